/* SPDX-License-Identifier: MIT */
/*
 * The header page of a mapping, kernel to user.
 */
#ifndef PMULAB_KERNELCORE_PERF_MMAP_PAGE_H
#define PMULAB_KERNELCORE_PERF_MMAP_PAGE_H

struct kperf_event;

/* [irq] Linux perf_event_update_userpage(): nothing without a ring. */
void perf_mmap_page_update(struct kperf_event *event);

#endif
