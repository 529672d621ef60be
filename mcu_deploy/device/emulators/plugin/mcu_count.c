/* A TCG plugin for QEMU that counts guest instructions exactly and writes, each time one of the
 * marked addresses is executed, one line "<address in hex> <count>" to a file. What the marks mean
 * (begin, end, layer ...) is the business of who reads the file. As soon as a second core has begun
 * to work, a line is "<address> <count> <core> <count of core 0> <count of core 1> ...", the first
 * count being that of the core that executed the mark.
 *
 *   qemu-system-arm ... -plugin mcu_count.so,out=FILE,mark=0x100,once=0x80,stop=0x200
 *       [,skip=0x40-0x60][,hist=FILE,from=0x100,to=0x200][,memories=FILE,waits=FILE]
 *
 *   mark=A   write a line when the instruction at A is executed
 *   once=A   the same, and stop when it is executed a second time (main: the firmware restarted)
 *   stop=A   the same, and stop
 *   skip=A-B do not count the instructions from A up to B, B left out: where a core idles
 *   hist=F   write how often each address was executed between an execution of `from` and the first
 *            one of a `to` after it, each time, to F: a line "<address> <count>" for each, and
 *            "<address of to> 0" to end them. Counted is the core that executes the two
 *   from=A, to=A   such marks; there may be several of each
 *   memories=F     how memories answer, and what instructions take (memories.h)
 *   waits=F  write for each line of `out` how long the core has waited for them since the start, to
 *            F: "<address> <for code> <for data>", in thousandths of a cycle. One core may work
 *
 * To stop is to end QEMU's process with code 0: all that it was started for is then in the files,
 * the last line of each of which is "end <lines before it>". Where one could not be written to its
 * end, on a full disk for one, the code is 1, and the line is missing or has another number.
 *
 * What is counted: every instruction, once each time it is executed, but for those at marked
 * addresses and skipped ones. The number in a line is the count of the instructions executed before
 * that one, by that core.
 * A Thumb instruction in an IT block whose condition is false counts one; so does a predicated-off
 * Helium instruction, and LE at the end of each turn of a low-overhead loop.
 *
 * One binary loads into QEMU 7.2 and into 10.0 (tried), and should into what lies between: with
 * plugin API 1 an inline operation adds to a plain variable, from API 2 on only to a cell of a
 * scoreboard. The prototypes below are those of QEMU's include/qemu/qemu-plugin.h with API 1 and
 * with API 5 (QEMU 10.2); they stand here because distributions do not agree on a package for that
 * header. What only one generation has is declared weak, and is NULL in the other.
 *
 * With API 1 a variable is all cores' alike. So each of QEMU's threads, one a core, translates for
 * counters of its own: QEMU keeps translated blocks of cores in different clusters apart, and the
 * machines with two Cortex-M put each core in its own (hw/arm/armsse.c). Where one thread serves
 * all cores (-accel tcg,thread=single, -icount) they cannot be told apart: a mark on another core
 * than the first ends the run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memories.h"

#define EXPORT __attribute__((visibility("default")))
#define WEAK   __attribute__((weak))

/* ---- QEMU's side ---- */

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
typedef struct {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;
typedef struct qemu_info_t {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    int smp_vcpus;
    int max_vcpus;
} qemu_info_t;
enum { CB_NO_REGS = 0 };     /* QEMU_PLUGIN_CB_NO_REGS */
enum { MEM_RW = 3 };         /* QEMU_PLUGIN_MEM_RW */
enum { INLINE_ADD_U64 = 0 }; /* QEMU_PLUGIN_INLINE_ADD_U64 */
typedef uint32_t meminfo_t;  /* qemu_plugin_meminfo_t */
typedef void (*instruction_callback_t)(unsigned int vcpu, void *userdata);
typedef void (*memory_callback_t)(unsigned int vcpu, meminfo_t info, uint64_t address,
                                  void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t,
                                                            struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            instruction_callback_t callback, int flags,
                                            void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
                                      memory_callback_t callback, int flags, int what,
                                      void *userdata);
bool qemu_plugin_mem_is_store(meminfo_t info);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
                                    void (*callback)(qemu_plugin_id_t, void *userdata),
                                    void *userdata);

/* API 1 only. */
WEAK void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, int op,
                                                     void *variable, uint64_t value);
/* API 2 and later. */
WEAK void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *instruction,
                                                              int op, qemu_plugin_u64 cell,
                                                              uint64_t value);
WEAK struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
WEAK void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu);
/* Each came with an API version of its own; they tell the version and are not called. */
WEAK void qemu_plugin_read_memory_vaddr(void); /* 4 */
WEAK void qemu_plugin_write_register(void);    /* 5 */

/* QEMU reads this after it has loaded the plugin, and refuses what is outside of its range. */
EXPORT int qemu_plugin_version = 1;

__attribute__((constructor)) static void choose_version(void) {
    if (qemu_plugin_write_register != NULL) {
        qemu_plugin_version = 5;
    } else if (qemu_plugin_read_memory_vaddr != NULL) {
        qemu_plugin_version = 4;
    } else if (qemu_plugin_scoreboard_new != NULL) {
        qemu_plugin_version = 2;
    }
}

/* ---- Counters ---- */

/* Cell 0 is the number of instructions; the others are the histogram, one for each of
 * memories_steps: a block that is translated anew finds its cells again. */
enum { NUM_CELLS = MAX_STEPS + 1, MAX_CORES = 8 };

static size_t cells_size; /* of one core, in bytes */
static unsigned int num_cores;

static uint64_t *core_cells[MAX_CORES];       /* API 1: of each core that has begun to work */
static __thread uint64_t *thread_cells;       /* API 1: of this thread's core */
static struct qemu_plugin_scoreboard *scores; /* API 2 and later */

static void fail(const char *what, const char *name) {
    fprintf(stderr, "mcu_count: %s: %s\n", what, name);
    _exit(1);
}

/* NULL for a core that has not begun to work. */
static uint64_t *cells(unsigned int core) {
    return scores == NULL ? core_cells[core] : qemu_plugin_scoreboard_find(scores, core);
}

/* API 1: called at the first instruction of a thread's first block. */
static void on_first_instruction(unsigned int core, void *of_thread) {
    if (core >= MAX_CORES) {
        fail("too many cores", "at most 8");
    }
    core_cells[core] = of_thread;
}

/* API 1: whether this thread's cells are that core's, and not one of before. */
static void check_thread(unsigned int core) {
    if (scores == NULL && core_cells[core] != thread_cells) {
        fail("one thread runs several cores", "leave out -icount and -accel tcg,thread=single");
    }
}

static void add_one(struct qemu_plugin_insn *instruction, uint32_t cell) {
    if (scores == NULL) {
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, INLINE_ADD_U64, &thread_cells[cell],
                                                   1);
    } else {
        const qemu_plugin_u64 place = {scores, cell * sizeof(uint64_t)};
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, INLINE_ADD_U64, place, 1);
    }
}

/* ---- Marks ---- */

enum { MAX_MARKS = 64 };
typedef struct {
    uint64_t address;
    bool stop;      /* end at the first execution */
    bool stop_next; /* end at the second one */
    bool seen;
    bool histogram_from;
    bool histogram_to;
} mark_t;
static mark_t marks[MAX_MARKS];
static size_t num_marks;

typedef struct {
    FILE *file; /* NULL: not asked for, or written to its end */
    const char *name;
    unsigned long long lines;
} output_t;
static output_t out;
static output_t histogram;
static output_t waits;
static pthread_mutex_t output_mutex = PTHREAD_MUTEX_INITIALIZER; /* cores meet marks at once */
static bool is_counting[MAX_CORES]; /* behind a `from`, and before its `to` */

/* Where nothing is counted: from `first` up to `end`, left out. */
static struct { uint64_t first, end; } skips[MAX_MARKS];
static size_t num_skips;

static bool is_skipped(uint64_t address) {
    for (size_t i = 0; i < num_skips; i++) {
        if (address >= skips[i].first && address < skips[i].end) {
            return true;
        }
    }
    return false;
}

static mark_t *mark_at(uint64_t address) {
    for (size_t i = 0; i < num_marks; i++) {
        if (marks[i].address == address) {
            return &marks[i];
        }
    }
    if (num_marks == MAX_MARKS) {
        fail("too many marks", "at most 64");
    }
    marks[num_marks].address = address;
    return &marks[num_marks++];
}

static void open_output(output_t *output, const char *name) {
    output->file = fopen(name, "w");
    output->name = name;
    if (output->file == NULL) {
        fail("cannot write", name);
    }
}

/* The last line, with which who reads the file knows that it has all of it. An error of any write
 * before is one of the file's for good. */
static void end_output(output_t *output) {
    FILE *const file = output->file;
    if (file == NULL) {
        return;
    }
    output->file = NULL;
    fprintf(file, "end %llu\n", output->lines);
    const bool failed = fflush(file) != 0 || ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        fail("cannot write all of it", output->name);
    }
}

static void end_outputs(void) {
    end_output(&out);
    end_output(&histogram);
    end_output(&waits);
}

/* QEMU ends by itself. */
static void on_exit_of_qemu(qemu_plugin_id_t id, void *userdata) {
    (void)id;
    (void)userdata;
    pthread_mutex_lock(&output_mutex);
    end_outputs();
    pthread_mutex_unlock(&output_mutex);
}

static void write_histogram(const uint64_t *counts, uint64_t end) {
    for (uint32_t cell = 1; cell <= memories_num_steps; cell++) {
        if (counts[cell] != 0) {
            fprintf(histogram.file, "%llx %llu\n", (unsigned long long)memories_steps[cell].address,
                    (unsigned long long)counts[cell]);
            histogram.lines++;
        }
    }
    fprintf(histogram.file, "%llx 0\n", (unsigned long long)end);
    histogram.lines++;
}

/* A core that runs at the same time may count on while its number is read; that of one which idles
 * in a skipped stretch stands still. */
static void write_line(const mark_t *mark, unsigned int core) {
    unsigned int known = 1;
    for (unsigned int i = 1; i < num_cores; i++) {
        known = cells(i) != NULL && cells(i)[0] != 0 ? i + 1 : known;
    }
    char line[32 * (MAX_CORES + 2)];
    int size = snprintf(line, sizeof line, "%llx %llu", (unsigned long long)mark->address,
                        (unsigned long long)cells(core)[0]);
    if (known > 1) {
        size += snprintf(line + size, sizeof line - (size_t)size, " %u", core);
        for (unsigned int i = 0; i < known; i++) {
            const uint64_t *counts = cells(i);
            size += snprintf(line + size, sizeof line - (size_t)size, " %llu",
                             counts == NULL ? 0 : (unsigned long long)counts[0]);
        }
    }
    fprintf(out.file, "%s\n", line);
    out.lines++;
    if (waits.file != NULL) {
        fprintf(waits.file, "%llx %llu %llu\n", (unsigned long long)mark->address,
                (unsigned long long)memories_code_wait, (unsigned long long)memories_data_wait);
        waits.lines++;
    }
}

static void on_mark(unsigned int core, void *userdata) {
    mark_t *mark = userdata;
    check_thread(core);
    uint64_t *counts = cells(core);
    pthread_mutex_lock(&output_mutex);
    if (out.file == NULL) {
        pthread_mutex_unlock(&output_mutex);
        return;
    }
    write_line(mark, core);
    if (histogram.file != NULL && mark->histogram_to && is_counting[core]) {
        write_histogram(counts, mark->address);
        is_counting[core] = false;
    }
    if (histogram.file != NULL && mark->histogram_from) {
        memset(counts + 1, 0, memories_num_steps * sizeof *counts);
        is_counting[core] = true;
    }
    if (mark->stop || (mark->stop_next && mark->seen)) {
        end_outputs();
        _exit(0);
    }
    mark->seen = true;
    pthread_mutex_unlock(&output_mutex);
}

/* ---- Memories ---- */

static void on_instruction(unsigned int core, void *userdata) {
    if (core != 0) {
        fail("a second core works", "waiting is modelled for one");
    }
    memories_execute(userdata);
}

static void on_access(unsigned int core, meminfo_t info, uint64_t address, void *userdata) {
    (void)core;
    (void)userdata;
    if (qemu_plugin_mem_is_store(info)) {
        memories_write(address);
    } else {
        memories_read(address);
    }
}

static step_t *step_of(const struct qemu_plugin_insn *instruction) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* cores translate at once */
    pthread_mutex_lock(&mutex);
    step_t *step = memories_step(qemu_plugin_insn_vaddr(instruction),
                                 (uint32_t)qemu_plugin_insn_size(instruction));
    pthread_mutex_unlock(&mutex);
    if (step == NULL) {
        fail("too many different instructions", "at most 262144");
    }
    return step;
}

/* ---- QEMU calls ---- */

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    const size_t size = qemu_plugin_tb_n_insns(block);
    if (scores == NULL && thread_cells == NULL) {
        thread_cells = calloc(1, cells_size);
        if (thread_cells == NULL) {
            fail("no memory is left", "for the counters of a core");
        }
        qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(block, 0),
                                               on_first_instruction, CB_NO_REGS, thread_cells);
    }
    for (size_t i = 0; i < size; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        const uint64_t address = qemu_plugin_insn_vaddr(instruction);
        if (is_skipped(address)) {
            continue;
        }
        mark_t *mark = NULL;
        for (size_t k = 0; k < num_marks && mark == NULL; k++) {
            mark = marks[k].address == address ? &marks[k] : NULL;
        }
        if (mark != NULL) {
            /* No inline operation here: whether QEMU runs it before or after the callback differs
             * between versions. */
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, CB_NO_REGS, mark);
            continue;
        }
        add_one(instruction, 0);
        if (histogram.file != NULL) {
            add_one(instruction, (uint32_t)(step_of(instruction) - memories_steps));
        }
        if (waits.file != NULL) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, CB_NO_REGS,
                                                   step_of(instruction));
            qemu_plugin_register_vcpu_mem_cb(instruction, on_access, CB_NO_REGS, MEM_RW, NULL);
        }
    }
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                               char **argv) {
    num_cores = info->max_vcpus < MAX_CORES ? (unsigned int)info->max_vcpus : MAX_CORES;
    for (int i = 0; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL) {
            fail("an argument without a value", argv[i]);
        }
        *value++ = '\0';
        if (strcmp(argv[i], "out") == 0) {
            open_output(&out, value);
            /* A run that is cut off shall show how far it came. */
            setvbuf(out.file, NULL, _IOLBF, BUFSIZ);
        } else if (strcmp(argv[i], "hist") == 0) {
            open_output(&histogram, value);
        } else if (strcmp(argv[i], "waits") == 0) {
            open_output(&waits, value);
        } else if (strcmp(argv[i], "memories") == 0) {
            if (!memories_read_file(value)) {
                fail("cannot read how memories answer", value);
            }
        } else if (strcmp(argv[i], "skip") == 0) {
            char *end = NULL;
            if (num_skips == MAX_MARKS) {
                fail("too many skipped stretches", "at most 64");
            }
            skips[num_skips].first = strtoull(value, &end, 0) & ~1ULL;
            if (*end != '-') {
                fail("skip is no FIRST-END", value);
            }
            skips[num_skips++].end = strtoull(end + 1, NULL, 0);
        } else {
            mark_t *mark = mark_at(strtoull(value, NULL, 0) & ~1ULL); /* without the Thumb bit */
            if (strcmp(argv[i], "stop") == 0) {
                mark->stop = true;
            } else if (strcmp(argv[i], "once") == 0) {
                mark->stop_next = true;
            } else if (strcmp(argv[i], "from") == 0) {
                mark->histogram_from = true;
            } else if (strcmp(argv[i], "to") == 0) {
                mark->histogram_to = true;
            } else if (strcmp(argv[i], "mark") != 0) {
                fail("an unknown argument", argv[i]);
            }
        }
    }
    if (out.file == NULL) {
        fail("an argument is missing", "out=FILE");
    }
    cells_size = (histogram.file != NULL ? NUM_CELLS : 1) * sizeof(uint64_t);
    if (qemu_plugin_register_vcpu_insn_exec_inline == NULL && qemu_plugin_scoreboard_new != NULL) {
        scores = qemu_plugin_scoreboard_new(cells_size);
    }
    if (qemu_plugin_register_vcpu_insn_exec_inline == NULL && scores == NULL) {
        fail("this QEMU has no way to count that the plugin knows, or no memory is left", "");
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
    return 0;
}
