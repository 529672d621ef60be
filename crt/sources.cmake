# What libmcu_crt is made of; Python reads this list too (mcu_deploy/backends/file_lists.py).
mcu_runtime(crt
    SOURCES
        src/error.c
        src/exposed.c
        src/instance.c
        src/mcu_run.c
        src/memory_block.c
        src/memory_page.c
        src/parallel.c
        src/resize.c
        src/runtime.c
        src/tensor.c)
