"""Operators of CpuRef on an emulated core: a node test of ONNX of each, in one program, and
TFLite's of int16 in another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import network_programs as programs
import numpy as np
import pytest
from onnx import helper
from operators import tree_models as trees
from operators.node_tests import NodeTest, bound_inputs, node_tests
from operators.tflite_cases import transposed, wide_elements, wide_products
from sampling import chosen, first, is_sample, part

from mcu_deploy import compile_model
from mcu_deploy.backends.CpuRef.kernels import tree_code
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.ir import DType
from mcu_deploy.options import Options

TESTS = (
    "adagrad", "adam", "affine_grid_2d", "attention_4d_causal",
    "averagepool_3d_dilations_small", "basic_deform_conv_with_padding", "batchnorm_epsilon",
    "batchnorm_example_training_mode", "cast_FLOAT16_to_FLOAT", "cast_FLOAT4E2M1_to_FLOAT",
    "cast_FLOAT8E5M2_to_FLOAT", "cast_FLOAT_to_BFLOAT16", "cast_FLOAT_to_FLOAT16",
    "cast_FLOAT_to_FLOAT4E2M1", "cast_FLOAT_to_FLOAT8E4M3FN", "cast_FLOAT_to_INT4",
    "cast_INT2_to_FLOAT", "cast_e8m0_FLOAT_to_FLOAT8E8M0", "center_crop_pad_crop_and_pad",
    "col2im_pads", "convinteger_with_padding", "convtranspose_3d", "convtranspose_output_shape",
    "deform_conv_with_mask_bias", "depthtospace_crd_mode_example", "dequantizelinear_blocked",
    "det_nd", "dft", "dft_inverse", "dft_irfft", "dynamicquantizelinear", "edge_pad",
    "einsum_batch_matmul", "flexattention", "gemm_all_attributes", "gridsample_bicubic",
    "gridsample_nearest", "gridsample_reflection_padding",
    "gridsample_volumetric_bilinear_align_corners_0", "group_normalization_epsilon",
    "hardmax_axis_1", "instancenorm_epsilon", "layer_normalization_3d_axis1_epsilon",
    "lppool_2d_pads", "lpnormalization_default", "lrn", "matmulinteger", "max_float16",
    "maxpool_with_argmax_2d_precomputed_pads", "maxunpool_export_with_output_shape", "momentum",
    "mvn", "nllloss_NCd1d2_with_weight", "quantizelinear_axis",
    "quantizelinear_blocked_asymmetric", "quantizelinear_uint4", "reduce_max_empty_set",
    "reflect_pad", "resize_downsample_scales_linear_antialias", "resize_tf_crop_and_resize",
    "resize_upsample_scales_cubic_A_n0p5_exclude_outside", "reversesequence_time",
    "rms_normalization_3d_axis1_epsilon", "roialign_aligned_true", "roialign_mode_max",
    "rotary_embedding", "sce_mean", "spacetodepth_crd_mode_example", "stft_with_window",
    "swiglu", "tensorscatter_circular", "tfidfvectorizer_tf_batch_uniandbigrams_skip5",
    "top_k_same_values_2d", "top_k_smallest", "upsample_nearest", "wrap_pad",
)  # fmt: skip

# Runs each network once; prints the names of those that fail.
MAIN = """
#include <math.h>
#include <string.h>
#include "mcu/runtime.h"
#include "check.h"
@INCLUDES@
static const mcu_model_t *const models[] = {@MODELS@};
static const int8_t given[] __attribute__((aligned(8))) = {%(given)s};
static const int8_t wanted[] __attribute__((aligned(8))) = {%(wanted)s};
static const float allowed[] = {%(allowed)s}; /* 0 where integers are compared */
static uint8_t workspace[%(bytes)d] __attribute__((aligned(16)));

static int is_right(const DLTensor *tensor, size_t bytes, const int8_t *want, float most) {
    if (most == 0.0F) {
        return memcmp(tensor->data, want, bytes) == 0;
    }
    const size_t size = tensor->dtype.bits / 8U;
    for (size_t k = 0; k < bytes; k += size) {
        double found;
        double value;
        if (size == sizeof(double)) {
            memcpy(&found, (const char *)tensor->data + k, size);
            memcpy(&value, want + k, size);
        } else {
            float pair[2];
            memcpy(&pair[0], (const char *)tensor->data + k, size);
            memcpy(&pair[1], want + k, size);
            found = (double)pair[0];
            value = (double)pair[1];
        }
        if (!(fabs(found - value) <= (double)most) && !(found == value) &&
            !(isnan(found) && isnan(value))) {
            return 0;
        }
    }
    return 1;
}

int main(void) {
    size_t from = 0;
    size_t to = 0;
    size_t checked = 0;
    int failures = 0;
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        const mcu_model_t *model = models[m];
        mcu_instance_t instance;
        DLTensor inputs[MCU_MAX_TENSORS];
        DLTensor outputs[MCU_MAX_TENSORS];
        int right =
            mcu_instance_init(&instance, model, workspace, model->workspace_size) == MCU_OK;
        for (uint32_t i = 0; i < model->num_input_tensors; i++) {
            mcu_instance_input(&instance, i, &inputs[i]);
            memcpy(inputs[i].data, given + from, model->inputs[i].place.bytes);
            from += model->inputs[i].place.bytes;
        }
        for (uint32_t i = 0; i < model->num_output_tensors; i++) {
            mcu_instance_output(&instance, i, &outputs[i]);
        }
        right = right && mcu_instance_run(&instance, inputs, model->num_input_tensors, outputs,
                                          model->num_output_tensors) == MCU_OK;
        for (uint32_t i = 0; i < model->num_output_tensors; i++) {
            const size_t bytes = model->outputs[i].place.bytes;
            right = right && is_right(&outputs[i], bytes, wanted + to, allowed[checked++]);
            to += bytes;
        }
        if (!right) {
            test_print(model->name);
            test_print("\\n");
            failures++;
        }
        right = mcu_instance_deinit(&instance) == MCU_OK;
        failures += right ? 0 : 1;
    }
    return failures;
}
"""


def _chosen() -> list[NodeTest]:
    by_name = {test.name: test for test in node_tests(whole=False)}
    missing = [name for name in TESTS if f"test_{name}" not in by_name]
    if missing:
        pytest.skip(f"this version of onnx has no {', '.join(missing)}")
    return [by_name[f"test_{name}"] for name in TESTS]


def _allowed(wanted: Sequence[np.ndarray]) -> list[str]:
    """What each output may differ by: 1e-5 of its largest magnitude, and integers by nothing;
    narrow floats too, of which there are exact operators alone."""
    found = []
    for value in wanted:
        is_real = DType.of(value.dtype).is_float
        finite = np.abs(value[np.isfinite(value)]) if is_real else np.zeros(0)
        found.append(
            f"{max(1e-5 * float(finite.max(initial=0)), 1e-30):.9g}F" if is_real else "0.0F"
        )
    return found


# In the sample trees alone are compiled for the second, whose floats are functions of the compiler.
BOARDS = ("mps2-an386", "nucleo_g0b1re")


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize("board", first(BOARDS))
def test_a_node_test_of_each_operator(board: str, tmp_path: Path) -> None:
    """In the sample of one in three: the host computes one of each."""
    files = []
    for index, test in enumerate(part(_chosen(), 3)):
        model, inputs = bound_inputs(test)
        path = tmp_path / f"{test.name.removeprefix('test_').lower()[:40]}_{index}.onnx"
        path.write_bytes(model.SerializeToString())
        files.append((path, inputs))
    _run(files, board, tmp_path)


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize("board", first(BOARDS))
def test_tflite_s_integers_of_16_bits(board: str, tmp_path: Path) -> None:
    files = []
    for family in (wide_products, transposed, wide_elements):
        for index, case in enumerate(family(np.random.default_rng(8))):
            path = tmp_path / f"{family.__name__}_{index}.tflite"
            path.write_bytes(case.content)
            files.append((path, case.inputs))
    _run(files, board, tmp_path)


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize("board", chosen(BOARDS, ("nucleo_g0b1re",)))
def test_trees(board: str, tmp_path: Path) -> None:
    """Narrow words and wide ones, NaN that goes both ways, least weights, and integers; each as
    tables, and as code. That of ten levels as code takes gcc five seconds: --all alone does it."""
    files = []
    for index, (dtype, levels, aggregate) in enumerate(
        (("float32", 4, "SUM"), ("float32", 10, "SUM"), ("float64", 4, "SUM"),
         ("float32", 4, "MIN"), ("uint8", 4, "SUM"), ("int16", 4, "SUM"))
    ):  # fmt: skip
        generator = np.random.default_rng(index)
        said = trees.older(generator, trees.MODES, range(2), "target", levels=levels, tracks=True)
        said |= {"n_targets": 2, "aggregate_function": aggregate}
        x = trees.features(generator, 9, dtype)
        before = [helper.make_node("Cast", ["x"], ["features"], to=1)]
        outputs = {"y": ("float32", (9, 2))}
        model = trees.model(
            "TreeEnsembleRegressor", said, x, outputs,
            before=before if np.issubdtype(x.dtype, np.integer) else (),
        )  # fmt: skip
        path = tmp_path / f"trees_{index}.onnx"
        path.write_bytes(model.SerializeToString())
        files.append((path, (x,)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_code, "ways", lambda view, layer: ())
        _run(files, board, tmp_path / "tables")
    _run([files[0], *files[2:]] if is_sample() else files, board, tmp_path / "code", "speed")


def _run(
    files: Sequence[tuple[Path, Sequence[np.ndarray]]], board: str, tmp_path: Path,
    goal: str = "balanced",
) -> None:  # fmt: skip
    """All models in one program, which compares them with the oracle. Code for a Cortex-M0+ runs on
    the Cortex-M4 too, which QEMU has."""
    networks: list[Network] = []
    given, wanted, allowed = [], [], []
    options = Options(backends=("CpuRef",), weights="array", optimize_for=goal)
    target = load_board(board)
    tmp_path.mkdir(exist_ok=True)
    for path, inputs in files:
        network = compile_model(path, target, name=path.stem, options=options)
        networks.append(network)
        outputs = programs.expected(network, inputs)
        given += [programs.c_array(value) for value in inputs if value.size]
        wanted += [programs.c_array(value) for value in outputs if value.size]
        allowed += _allowed(outputs)
    main = MAIN % {
        "given": ", ".join(given), "wanted": ", ".join(wanted), "allowed": ", ".join(allowed),
        "bytes": max(16, *(network.plan.bytes for network in networks)),
    }  # fmt: skip
    names = programs.write(networks, tmp_path)
    elf = programs.link_for_cortex_m4(names, tmp_path, programs.main_for(main, names), (), board)
    code, text = programs.run_on_cortex_m4(elf)
    assert code == 0, f"{code} failures: {text}"
