/* SPDX-License-Identifier: MIT */
/*
 * The laboratory's hypercalls, in SMCCC's range of vendor specific hypervisor
 * services (Arm DEN 0028, 6.1). Who boots the image offers them with the boot
 * argument `laboratory`; without it none is made.
 */
#ifndef PMULAB_KERNELCORE_ARM64_LAB_H
#define PMULAB_KERNELCORE_ARM64_LAB_H

#define LAB_INJECT 0xc6000000 /* x1..x4: forced, counter, events, el; 0 or -Exxx */
#define LAB_NOTE   0xc6000001 /* x1..x3: enum hal_note, a, b */

#endif
