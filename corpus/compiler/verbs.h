/* SPDX-License-Identifier: MIT */
/* Verb tables: one row a verb, looked up by parse_verb(). */
#ifndef PMULAB_CORPUS_COMPILER_VERBS_H
#define PMULAB_CORPUS_COMPILER_VERBS_H

#include "corpus/compiler/parse.h"

struct parse_verb {
	const char *name;
	unsigned min, max; /* words, the verb among them */
	const char *use;
	int (*parse)(struct parser *p);
	bool block;
};

extern const struct parse_verb parse_built_verbs[]; /* verbs.c */
extern const struct parse_verb parse_task_verbs[];  /* tasks.c */

int parse_close_block(struct parser *p);

#endif
