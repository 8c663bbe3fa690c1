/* SPDX-License-Identifier: Apache-2.0 */
/* reconfig_data_format.h: new formats for the sources and the packer, when circular buffers differ.
 */
#pragma once
#include "common.h"

static inline void reconfig_data_format_srca(uint32_t cb) {
    tt_call(configure, TT_SRCA, cb);
}
static inline void reconfig_data_format_srcb(uint32_t cb) {
    tt_call(configure, TT_SRCB, cb);
}
static inline void reconfig_data_format_srca(uint32_t, uint32_t cb) {
    reconfig_data_format_srca(cb);
}
static inline void reconfig_data_format_srcb(uint32_t, uint32_t cb) {
    reconfig_data_format_srcb(cb);
}
static inline void reconfig_data_format(uint32_t srca, uint32_t srcb) {
    reconfig_data_format_srca(srca);
    reconfig_data_format_srcb(srcb);
}
static inline void pack_reconfig_data_format(uint32_t cb) {
    tt_call(configure, TT_PACK, cb);
}
static inline void pack_reconfig_data_format(uint32_t, uint32_t cb) {
    tt_call(configure, TT_PACK, cb);
}
