/* See zephyr/kernel.h.
 * SPDX-License-Identifier: Apache-2.0 */
void printk(const char *format, ...);
