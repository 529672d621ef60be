/* mcu/platform.h for the machine itself: a process that speaks on a loopback socket or on its
 * standard input and output.
 *
 * A restart executes the program again and keeps the connection, as a board's serial line stays
 * when the board restarts.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "mcu/platform.h"

const char mcu_platform_board[] = MCU_BOARD_NAME;
const char mcu_platform_core[] = MCU_BOARD_CORE;
const uint32_t mcu_platform_clock_hz = MCU_BOARD_CLOCK_HZ;
const uint32_t mcu_platform_baud = MCU_BOARD_BAUD;

static const char *program; /* argv[0], for the restart */
static int listen_fd = -1;  /* -1: standard input and output */
static int read_fd = -1;    /* -1: nobody is connected */
static int write_fd = -1;

void mcu_host_die(const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program, what, strerror(errno));
    exit(MCU_HOST_EXIT_SYSTEM);
}

/* ---- the line ---- */

static void start_listening(uint16_t port) {
    listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    if (listen_fd < 0) {
        mcu_host_die("cannot make a socket");
    }
    const int on = 1;
    setsockopt(listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listen_fd, (struct sockaddr *)&address, size) != 0 || listen(listen_fd, 1) != 0 ||
        getsockname(listen_fd, (struct sockaddr *)&address, &size) != 0) {
        mcu_host_die("cannot listen on 127.0.0.1");
    }
    printf("port %u\n", (unsigned)ntohs(address.sin_port));
    fflush(stdout);
}

static void disconnect(void) {
    if (listen_fd < 0) {
        exit(0); /* standard input has ended */
    }
    close(read_fd);
    read_fd = write_fd = -1;
}

static void connect_next(void) {
    const int fd = accept(listen_fd, NULL, NULL);
    if (fd < 0) {
        return; /* the caller left again */
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    read_fd = write_fd = fd;
}

/* Waits for the line (timeout in ms; -1: for ever) and takes a caller in. True: there are bytes, or
 * the end of them. */
static bool line_ready(int timeout) {
    struct pollfd fd = {.fd = read_fd >= 0 ? read_fd : listen_fd, .events = POLLIN};
    if (poll(&fd, 1, timeout) <= 0) {
        return false;
    }
    if (read_fd >= 0) {
        return true;
    }
    connect_next();
    return false;
}

/* ---- stopping a run: what a board's receive interrupt does, ten times a second ---- */

#define STOP_LOOK_MICROSECONDS 100000

static uint8_t early[4096]; /* received while a run was in progress, for mcu_platform_read */
static volatile size_t early_count;
static uint32_t zeros; /* in a row, at the end of what was received */

void mcu_platform_allow_stop(bool is_allowed) {
    const struct timeval look = {.tv_usec = is_allowed ? STOP_LOOK_MICROSECONDS : 0};
    const struct itimerval timer = {.it_interval = look, .it_value = look};
    zeros = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* In the handler of the timer's signal. What `early` has no room for is dropped, as a board does;
 * the end of the line is left to mcu_platform_read. */
bool mcu_host_is_stopped(void) {
    struct pollfd fd = {.fd = read_fd, .events = POLLIN};
    uint8_t bytes[256];
    while (zeros < MCU_STOP_ZEROS && poll(&fd, 1, 0) > 0) {
        const ssize_t count = read(read_fd, bytes, sizeof bytes);
        if (count <= 0) {
            break;
        }
        for (ssize_t i = 0; i < count && zeros < MCU_STOP_ZEROS; ++i) {
            zeros = bytes[i] == 0 ? zeros + 1 : 0;
            if (early_count < sizeof early) {
                early[early_count++] = bytes[i];
            }
        }
    }
    return zeros >= MCU_STOP_ZEROS;
}

size_t mcu_platform_read(uint8_t *data, size_t size) {
    if (early_count > 0) {
        const size_t count = size < early_count ? size : early_count;
        memcpy(data, early, count);
        memmove(early, early + count, early_count - count);
        early_count -= count;
        return count;
    }
    if (size == 0 || !line_ready(0)) {
        return 0;
    }
    const ssize_t count = read(read_fd, data, size);
    if (count > 0) {
        return (size_t)count;
    }
    if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        disconnect();
    }
    return 0;
}

void mcu_platform_write(const uint8_t *data, size_t size) {
    while (size > 0 && write_fd >= 0) {
        const ssize_t count = write(write_fd, data, size);
        if (count > 0) {
            data += count;
            size -= (size_t)count;
        } else if (count < 0 && errno == EAGAIN) {
            struct pollfd fd = {.fd = write_fd, .events = POLLOUT};
            poll(&fd, 1, -1);
        } else if (count < 0 && errno != EINTR) {
            disconnect();
        }
    }
}

void mcu_platform_wait(void) {
    if (early_count == 0) {
        line_ready(-1);
    }
}

/* ---- counter, restart ---- */

/* Waits for the first caller, so that nothing the firmware says is lost. */
void mcu_platform_init(void) {
    while (read_fd < 0) {
        line_ready(-1);
    }
}

mcu_counter_kind_t mcu_platform_counter_kind(void) {
    return MCU_COUNTER_NANOSECONDS;
}

uint64_t mcu_platform_counter(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Also runs in a signal handler: execv is async-signal-safe. */
void mcu_platform_reset(void) {
    mcu_platform_allow_stop(false);
    signal(SIGALRM, SIG_IGN); /* one that is pending would end the program anew */
    char resume[48];
    snprintf(resume, sizeof resume, "%d,%d,%d", listen_fd, read_fd, write_fd);
    char *const arguments[] = {(char *)(uintptr_t)program, (char[]){"--resume"}, resume, NULL};
    execv("/proc/self/exe", arguments);
    _exit(MCU_HOST_EXIT_SYSTEM);
}

bool mcu_host_open(int argc, char **argv) {
    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "--port") == 0) {
        char *end;
        const unsigned long port = strtoul(argv[2], &end, 10);
        if (argv[2][0] < '0' || argv[2][0] > '9' || *end != '\0' || port > 65535) {
            return false;
        }
        start_listening((uint16_t)port);
        return true;
    }
    if (argc == 3 && strcmp(argv[1], "--resume") == 0) {
        return sscanf(argv[2], "%d,%d,%d", &listen_fd, &read_fd, &write_fd) == 3;
    }
    if (argc == 2 && strcmp(argv[1], "--stdio") == 0) {
        read_fd = STDIN_FILENO;
        write_fd = STDOUT_FILENO;
        return true;
    }
    return false;
}
