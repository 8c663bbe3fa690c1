/* SPDX-License-Identifier: Apache-2.0 */
/* simt_json.h: plan.json of a kernel for a machine with lanes (simt_json.c). */
#ifndef TARGET_SIMT_SIMT_JSON_H
#define TARGET_SIMT_SIMT_JSON_H
#include "base/text.h"
#include "pass/pass.h"
#include "target/simt/simt_param.h"

/* What a target has in it of its own: members of the launch, and behind the parameters. */
typedef struct SimtJsonOwn {
    void (*launch)(Text *t, const Kernel *k, const SimtPlan *plan);
    void (*params)(Text *t, const Kernel *k, const SimtPlan *plan);
} SimtJsonOwn;

/* own: NULL where it has nothing */
char *simt_json(const PassContext *cx, const Kernel *k, const SimtPlan *plan, const SimtJsonOwn *own);
/* An integer scalar that follows from the parameters, as an expression. */
void simt_json_number(Text *t, const Kernel *k, Ref ref);
#endif
