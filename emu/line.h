/* SPDX-License-Identifier: MIT */
/*
 * A wire between two devices. The driver calls set() with the level; the
 * receiver is whoever filled the struct. A driver never learns who listens.
 */
#ifndef PMULAB_EMU_LINE_H
#define PMULAB_EMU_LINE_H

struct irq_line {
	void (*set)(void *opaque, int level); /* level 0 or 1; may be NULL */
	void *opaque;
};

static inline void irq_line_set(const struct irq_line *line, int level)
{
	if (line->set)
		line->set(line->opaque, level);
}

#endif
