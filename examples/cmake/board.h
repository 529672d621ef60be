/* What main.c needs of the board. SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARD_H
#define BOARD_H

void board_print(const char *text);

#endif /* BOARD_H */
