/* SPDX-License-Identifier: Apache-2.0 */
/* options.h: the list of compile options, and applying them to a kernel; the list itself is options.def. */
#ifndef RUNTIME_API_OPTIONS_H
#define RUNTIME_API_OPTIONS_H
#include "runtime/runtime.h"

bool option_info(size_t index, tw_option_info *info); /* false past the last */
/* Message on the context when a name or value is wrong. */
tw_status options_apply(tw_kernel *k, const tw_pair *options, size_t count);
#endif
