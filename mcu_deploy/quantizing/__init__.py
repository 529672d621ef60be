"""From an ONNX model of float32 and samples to one of int8: what `mcu-deploy quantize` does.

    preparing   the model in the form that has an integer form: one Conv or Gemm a layer, nothing
                between that could be in it
    statistics  what lies in its tensors, over the samples, one at a time
    ranges      from that to what a tensor's bytes stand for: several methods
    integers    onnxruntime's quantizer, which writes the model with these ranges
    rounding    scales by which integers round as float32 does
    choosing    which of the methods, measured on samples that took no part

Models are `net.Net` values here, and every pass over samples runs in a process of its own.
"""
