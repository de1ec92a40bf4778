/* SPDX-License-Identifier: MIT */
/*
 * A circular doubly linked list with its head inside the owner. Each update is
 * a few plain stores: callers keep IRQs off where the handler walks the list.
 */
#ifndef PMULAB_KERNELCORE_PERF_LIST_H
#define PMULAB_KERNELCORE_PERF_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct perf_list {
	struct perf_list *next, *prev;
};

static inline void perf_list_init(struct perf_list *head)
{
	head->next = head->prev = head;
}

static inline void perf_list_add_tail(struct perf_list *head, struct perf_list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

/* The node may be deleted again: it is its own list then. */
static inline void perf_list_del(struct perf_list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	perf_list_init(node);
}

static inline bool perf_list_empty(const struct perf_list *head)
{
	return head->next == head;
}

#define perf_list_entry(node, type, member) \
	((type *)(void *)((char *)(node)-offsetof(type, member)))

/* The body may not change the list. */
#define perf_list_for_each(pos, head, type, member)                                     \
	for (pos = perf_list_entry((head)->next, type, member); &pos->member != (head); \
	     pos = perf_list_entry(pos->member.next, type, member))

#endif
