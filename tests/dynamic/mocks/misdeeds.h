/* What a mock backend can do to its process. A test names a place and a deed in the environment
 * variable MOCK_<id>: "describe crash".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MISDEEDS_H
#define MISDEEDS_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef ID
#define ID "Mock"
#endif

/* Where mock_objects.py writes another id, of 80 characters at most. */
#define ID_MARK "the id:"
static char marked_id[sizeof(ID_MARK) + 80] = ID_MARK ID;
static const char *const mock_id = marked_id + sizeof(ID_MARK) - 1;

void mock_throw(void); /* throwing.cpp, where the mock is linked with it */
#pragma weak mock_throw

/* The word that the environment has for this place, else "". */
static const char *deed_at(const char *place) {
    char variable[sizeof("MOCK_") + 80];
    snprintf(variable, sizeof(variable), "MOCK_%s", mock_id);
    const char *order = getenv(variable);
    size_t length = strlen(place);
    if (order == NULL || strncmp(order, place, length) != 0 || order[length] != ' ') {
        return "";
    }
    return order + length + 1;
}

static int is_deed(const char *place, const char *deed) {
    return strcmp(deed_at(place), deed) == 0;
}

static void *crash_later(void *nothing) {
    usleep(20000);
    raise(SIGSEGV);
    return nothing;
}

static void smash_stack(void) {
    volatile char local[8];
    for (volatile int i = 0; i < 4096; i++) {
        local[i] = 'A';
    }
}

/* Children that hold all that is open here, and live longer than any test. */
static void leave_children(int count, int in_a_session_of_its_own) {
    for (int i = 0; i < count; i++) {
        if (fork() == 0) {
            if (in_a_session_of_its_own) {
                setsid();
            }
            sleep(60);
            _exit(0);
        }
    }
}

static void write_everywhere(const void *data, size_t size) {
    for (int fd = 3; fd < 32; fd++) {
        if (write(fd, data, size) < 0) {
            continue;
        }
    }
}

static void overwrite_heap(void) {
    char *end = sbrk(0);
    memset(end - 300000, 0xA5, 290000);
    free(malloc(100));
}

/* Does what the test has ordered at this place. */
static void misbehave(const char *place) {
    const char *deed = deed_at(place);
    if (strcmp(deed, "crash") == 0) {
        *(volatile int *)8 = 1;
    } else if (strcmp(deed, "abort") == 0) {
        abort();
    } else if (strcmp(deed, "exit") == 0) {
        exit(3);
    } else if (strcmp(deed, "_exit") == 0) {
        _exit(0);
    } else if (strcmp(deed, "term") == 0) {
        raise(SIGTERM);
    } else if (strcmp(deed, "hang") == 0) {
        for (;;) {
            usleep(1000);
        }
    } else if (strcmp(deed, "spin") == 0) {
        for (volatile int i = 0;; i++) {
        }
    } else if (strcmp(deed, "stop") == 0) {
        raise(SIGSTOP);
    } else if (strcmp(deed, "throw") == 0) {
        mock_throw();
    } else if (strcmp(deed, "stack") == 0) {
        smash_stack();
    } else if (strcmp(deed, "double free") == 0) {
        char *volatile twice = malloc(100000);
        char *volatile again = twice;
        free(twice);
        free(again);
    } else if (strcmp(deed, "heap") == 0) {
        overwrite_heap();
    } else if (strcmp(deed, "close") == 0) {
        for (int fd = 0; fd < 64; fd++) {
            close(fd);
        }
    } else if (strcmp(deed, "close and hang") == 0) {
        for (int fd = 0; fd < 64; fd++) {
            close(fd);
        }
        sleep(60);
    } else if (strcmp(deed, "garbage") == 0) {
        char garbage[64];
        memset(garbage, '?', sizeof garbage);
        write_everywhere(garbage, sizeof garbage);
    } else if (strcmp(deed, "false header") == 0) {
        static const uint32_t header[] = {0x4275636DU, 1U, 0xFFFFFFFFU, 0xFFFFFFFFU, 0U};
        write_everywhere(header, sizeof header);
    } else if (strcmp(deed, "forged answer") == 0) {
        /* a whole answer, to the first call */
        static const uint32_t header[] = {0x4275636DU, 1U, 13U, 0U, 0xC0FEFCC2U};
        write_everywhere(header, sizeof header);
        write_everywhere("{\"answer\":{}}", 13);
    } else if (strcmp(deed, "short header") == 0) {
        write_everywhere("mcuB", 4);
        sleep(60);
    } else if (strcmp(deed, "loud crash") == 0) {
        for (int i = 0; i < 100000; i++) {
            fprintf(stderr, "the mock complains for the %dth time\n", i);
        }
        *(volatile int *)8 = 1;
    } else if (strcmp(deed, "loud") == 0) {
        for (int i = 0; i < 20000; i++) {
            printf("the mock talks\n");
        }
    } else if (strcmp(deed, "children") == 0) {
        leave_children(8, 0);
        _exit(5);
    } else if (strcmp(deed, "daemons") == 0) {
        leave_children(8, 1);
        raise(SIGSEGV);
    } else if (strcmp(deed, "kill parent") == 0) {
        kill(getppid(), SIGKILL);
        sleep(60);
    } else if (strcmp(deed, "stop parent") == 0) {
        kill(getppid(), SIGSTOP);
        sleep(60);
    } else if (strcmp(deed, "end thread") == 0) {
        pthread_exit(NULL);
    } else if (strcmp(deed, "exec") == 0) {
        execl("/bin/true", "true", (char *)NULL);
    } else if (strcmp(deed, "hoard") == 0) {
        for (;;) {
            memset(malloc(1 << 24), 1, 1 << 24);
        }
    } else if (strcmp(deed, "crash later") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, crash_later, NULL);
    }
}

#endif /* MISDEEDS_H */
