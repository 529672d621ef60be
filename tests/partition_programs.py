"""A program that runs networks as a whole and part by part, and what it prints as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from network_programs import Array, host_program, run
from sanitizers import SANITIZED

from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.options import Options, PartitionRequest, Requests

# Of each model: all inputs from standard input; then to standard output the outputs of a run, the
# kept tensors, the outputs of the parts with buffers of the caller, and those with what lies in
# place.
RUN_PARTS = """
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mcu/runtime.h"
@INCLUDES@
static const mcu_model_t *const models[] = {@MODELS@};
static uint8_t *given[MCU_MAX_TENSORS]; /* the model's inputs */
static uint8_t *between[MCU_MAX_TENSORS]; /* the outputs of the part before */
static void demand(int32_t status) {
    if (status != MCU_OK) {
        fprintf(stderr, "%s\\n", mcu_error_string(status));
        exit(5);
    }
}
static void *blocks[64];
static size_t num_blocks;
static uint8_t *take(size_t bytes) {
    if (posix_memalign(&blocks[num_blocks], 16, bytes + 1) != 0) {
        exit(2);
    }
    return blocks[num_blocks++];
}
static int find(const mcu_tensor_info_t *infos, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(infos[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}
static void show(const DLTensor *tensors, const mcu_tensor_info_t *infos, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        fwrite(tensors[i].data, 1, infos[i].place.bytes, stdout);
    }
}
/* The parts in their order. A part's input is an input of the model, or an output of the part
 * before. in_place: what another part has left is used where it lies. */
static void run_parts(mcu_instance_t *instance, int in_place) {
    const mcu_model_t *model = instance->model;
    for (uint32_t p = 0; p < model->num_partitions; p++) {
        const mcu_partition_t *part = &model->partitions[p];
        DLTensor inputs[MCU_MAX_TENSORS], outputs[MCU_MAX_TENSORS];
        for (uint32_t i = 0; i < part->num_input_tensors; i++) {
            const char *name = part->inputs[i].name;
            demand(mcu_instance_partition_input(instance, p, i, &inputs[i]));
            int number = find(model->inputs, model->num_input_tensors, name);
            if (number >= 0) {
                inputs[i].data = given[number];
            } else if (!in_place) {
                const mcu_partition_t *before = &model->partitions[p - 1U];
                inputs[i].data = between[find(before->outputs, before->num_output_tensors, name)];
            }
        }
        for (uint32_t i = 0; i < part->num_output_tensors; i++) {
            demand(mcu_instance_partition_output(instance, p, i, &outputs[i]));
            if (!in_place) {
                outputs[i].data = take(part->outputs[i].place.bytes);
            }
        }
        demand(mcu_instance_run_partition(instance, p, inputs, part->num_input_tensors, outputs,
                                          part->num_output_tensors));
        for (uint32_t i = 0; i < part->num_output_tensors; i++) {
            between[i] = outputs[i].data;
        }
        if (p == model->num_partitions - 1U) {
            show(outputs, part->outputs, part->num_output_tensors);
        }
    }
}
int main(void) {
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        const mcu_model_t *model = models[m];
        mcu_instance_t instance;
        DLTensor inputs[MCU_MAX_TENSORS], outputs[MCU_MAX_TENSORS];
        void *workspace = NULL; /* of exactly the size, for the sanitizer */
        if (posix_memalign(&workspace, model->workspace_alignment, model->workspace_size) != 0) {
            return 2;
        }
        memset(workspace, 0xA5, model->workspace_size);
        demand(mcu_instance_init(&instance, model, workspace, model->workspace_size));
        for (uint32_t i = 0; i < model->num_input_tensors; i++) {
            const uint32_t bytes = model->inputs[i].place.bytes;
            given[i] = take(bytes);
            demand(mcu_instance_input(&instance, i, &inputs[i]));
            inputs[i].data = given[i];
            if (fread(given[i], 1, bytes, stdin) != bytes) {
                return 3;
            }
        }
        for (uint32_t i = 0; i < model->num_output_tensors; i++) {
            demand(mcu_instance_output(&instance, i, &outputs[i]));
        }
        demand(mcu_instance_run(&instance, inputs, model->num_input_tensors, outputs,
                                model->num_output_tensors));
        show(outputs, model->outputs, model->num_output_tensors);
        for (uint32_t i = 0; i < model->num_kept; i++) {
            DLTensor kept;
            demand(mcu_instance_kept(&instance, i, &kept));
            show(&kept, &model->kept[i], 1);
        }
        memset(workspace, 0x5A, model->workspace_size); /* the parts find nothing of the run */
        demand(mcu_instance_init(&instance, model, workspace, model->workspace_size));
        run_parts(&instance, 0);
        run_parts(&instance, 1);
        free(workspace);
        while (num_blocks > 0) {
            free(blocks[--num_blocks]);
        }
    }
    return 0;
}
"""


def cuts(graph: Graph) -> list[EdgeId]:
    """The edges, each of which alone lies on every way from the inputs to the outputs."""
    found = []
    for node in graph.nodes:
        for edge in node.outputs:
            if edge not in graph.outputs and not _reaches_input(graph, edge):
                found.append(edge)
    return found


def _reaches_input(graph: Graph, without: EdgeId) -> bool:
    """Whether the outputs need an input of the model although they have this edge."""
    pending, seen = list(graph.outputs), {without}
    while pending:
        edge = pending.pop()
        if edge in seen:
            continue
        seen.add(edge)
        if edge in graph.inputs:
            return True
        producer = graph.producer(edge)
        pending += [] if producer is None else list(producer.reads)
    return False


def cut_in_two(
    model: Path, name: str, tensors: Sequence[str], more: Sequence[str] = (), **options: object
) -> Network:
    """A model in the parts "head" and "tail", which meet at these tensors; they are kept too.

    more: inputs of the model that the tail reads.
    """
    plain = _compile(model, name, Requests(), options)
    inputs = tuple(plain.graph.edge_name(e) for e in plain.graph.inputs)
    outputs = tuple(plain.graph.edge_name(e) for e in plain.graph.outputs)
    head = tuple(i for i in inputs if i not in more)
    parts = (
        PartitionRequest("head", head, tuple(tensors)),
        PartitionRequest("tail", (*tensors, *more), outputs),
    )
    return _compile(model, name, Requests(keep=tuple(tensors), partitions=parts), options)


def _compile(model: Path, name: str, requests: Requests, options: dict[str, object]) -> Network:
    chosen = Options(requests=requests, **options)  # type: ignore[arg-type]
    return compile_model(model, load_board("host"), name=name, options=chosen)


def run_parts(
    networks: Sequence[Network], inputs: Sequence[Sequence[Array]], folder: Path
) -> list[tuple[list[Array], list[Array], list[Array], list[Array]]]:
    """Of each network: outputs of the whole, kept tensors, outputs of the parts twice."""
    program = host_program(networks, folder, RUN_PARTS, ("-O0", *SANITIZED))
    given = b"".join(np.ascontiguousarray(v).tobytes() for values in inputs for v in values)
    raw = run([program], given=given)
    found, at = [], 0
    for network in networks:
        kept = [k.edge for k in network.plan.exposure.kept]
        lists = []
        for edges in (network.outputs, kept, network.outputs, network.outputs):
            values = []
            for edge in edges:
                type_ = network.graph.type(edge)
                flat = np.frombuffer(raw[at : at + type_.bytes], type_.dtype.numpy)
                values.append(type_.from_memory(flat))
                at += type_.bytes
            lists.append(values)
        found.append((lists[0], lists[1], lists[2], lists[3]))
    assert at == len(raw)
    return found
