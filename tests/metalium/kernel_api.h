/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_api.h: the calls of kernels, declared only, with the parameters of TT-Metalium's public headers at v0.77: what emitted kernels
 * call must fit these types. hosts.py puts it under the names of the headers that kernels include. */
#pragma once
#include <cstddef>
#include <cstdint>

#define tt_l1_ptr
constexpr uint8_t noc_index = 0;
constexpr uint32_t NOC_MAX_BURST_SIZE = 8192, NOC_UNICAST_WRITE_VC = 1;
constexpr uint8_t NOC_MULTICAST_WRITE_VC = 4;

template <typename T> T get_arg_val(int arg_idx);
template <typename T> T get_common_arg_val(int arg_idx);
constexpr uint32_t stub_words[] = {KERNEL_COMPILE_TIME_ARGS};
#define get_compile_time_arg_val(index) stub_words[index]

#ifdef STUB_DATAFLOW
enum class ProgrammableCoreType { TENSIX };
void cb_push_back(const int32_t operand, const int32_t num_pages);
void cb_pop_front(int32_t operand, int32_t num_pages);
void cb_reserve_back(int32_t operand, int32_t num_pages);
void cb_wait_front(int32_t operand, int32_t num_pages);
uint32_t get_write_ptr(uint32_t operand);
uint32_t get_read_ptr(uint32_t operand);
template <ProgrammableCoreType type = ProgrammableCoreType::TENSIX> uintptr_t get_semaphore(uint32_t semaphore_id);

template <std::size_t CTA_OFFSET, std::size_t CRTA_OFFSET = ~0u> struct TensorAccessorArgs {
    static constexpr uint32_t AlignedPageSize = get_compile_time_arg_val(CTA_OFFSET + 1);
    static constexpr std::size_t next_compile_time_args_offset() { return CTA_OFFSET + 2; }
};
struct StubSpec {};
template <typename DSpecT> struct TensorAccessor {
    template <std::size_t CTA_OFFSET, std::size_t CRTA_OFFSET>
    TensorAccessor(const TensorAccessorArgs<CTA_OFFSET, CRTA_OFFSET> &args, const size_t bank_base_address_in,
                   const uint32_t page_size_in = TensorAccessorArgs<CTA_OFFSET, CRTA_OFFSET>::AlignedPageSize);
    uint64_t get_noc_addr(const uint32_t page_id, const uint32_t offset = 0, uint8_t noc = noc_index) const;
};
template <std::size_t CTA_OFFSET, std::size_t CRTA_OFFSET>
TensorAccessor(const TensorAccessorArgs<CTA_OFFSET, CRTA_OFFSET> &, size_t) -> TensorAccessor<StubSpec>;

uint64_t get_noc_addr(uint32_t addr, uint8_t noc = noc_index);
uint64_t get_noc_addr(uint32_t noc_x, uint32_t noc_y, uint32_t addr, uint8_t noc = noc_index);
template <typename DSpec>
uint64_t get_noc_addr(const uint32_t id, const TensorAccessor<DSpec> &addrgen, uint32_t offset = 0, uint8_t noc = noc_index);
uint64_t get_noc_multicast_addr(uint32_t noc_x_start, uint32_t noc_y_start, uint32_t noc_x_end, uint32_t noc_y_end, uint32_t addr,
                                uint8_t noc = noc_index);
template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool enable_noc_tracing = true>
void noc_async_read(uint64_t src_noc_addr, uint32_t dst_local_l1_addr, uint32_t size, uint8_t noc = noc_index,
                    uint32_t read_req_vc = NOC_UNICAST_WRITE_VC);
template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool enable_noc_tracing = true, bool posted = false>
void noc_async_write(uint32_t src_local_l1_addr, uint64_t dst_noc_addr, uint32_t size, uint8_t noc = noc_index,
                     uint32_t vc = NOC_UNICAST_WRITE_VC);
template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1>
void noc_async_write_multicast(uint32_t src_local_l1_addr, uint64_t dst_noc_addr_multicast, uint32_t size, uint32_t num_dests,
                               bool linked = false, uint8_t noc = noc_index, uint8_t vc = NOC_MULTICAST_WRITE_VC);
template <typename AddrGen, bool enable_noc_tracing = true>
void noc_async_read_page(const uint32_t id, const AddrGen &addrgen, uint32_t dst_local_l1_addr, uint32_t offset = 0, uint8_t noc = noc_index);
template <typename AddrGen, bool enable_noc_tracing = true, bool posted = false>
void noc_async_write_page(const uint32_t id, const AddrGen &addrgen, uint32_t src_local_l1_addr, uint32_t size = 0, uint32_t offset = 0,
                          uint8_t noc = noc_index);
void noc_semaphore_set_multicast(uint32_t src_local_l1_addr, uint64_t dst_noc_addr_multicast, uint32_t num_dests, bool linked = false,
                                 uint8_t noc = noc_index, uint8_t vc = NOC_MULTICAST_WRITE_VC);
void noc_async_read_barrier(uint8_t noc = noc_index);
void noc_async_write_barrier(uint8_t noc = noc_index);
void noc_async_writes_flushed(uint8_t noc = noc_index);
void noc_async_atomic_barrier(uint8_t noc_idx = noc_index);
void noc_semaphore_wait(volatile tt_l1_ptr uint32_t *sem_addr, uint32_t val);
void noc_semaphore_wait_min(volatile tt_l1_ptr uint32_t *sem_addr, uint32_t val);
void noc_semaphore_set(volatile tt_l1_ptr uint32_t *sem_addr, uint32_t val);
template <bool posted = false>
void noc_semaphore_inc(uint64_t addr, uint32_t incr, uint8_t noc_id = noc_index, uint8_t vc = NOC_UNICAST_WRITE_VC);
#else
enum class DataFormat : uint8_t { Float32 = 0, Float16_b = 5, Bfp8_b = 6, Int32 = 8, UInt16 = 9, UInt32 = 24 };
namespace ckernel {
enum class SrcOrder { Regular, Reverse };
enum class VectorMode { None, R, C, RC };
enum class InputClamping : uint8_t { ClampToNegative, None };
enum class DstRoundingMode { Default };
enum PoolType { SUM, AVG, MAX, MIN };
enum ReduceDim { REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR };
enum BroadcastType { NONE = 0, COL = 1, ROW = 2, SCALAR = 3 };
namespace p_sfpu {
constexpr uint16_t kCONST_1_FP16B = 0x3F80;
}

void cb_reserve_back(uint32_t cbid, uint32_t ntiles);
void cb_push_back(uint32_t cbid, uint32_t ntiles);
void cb_wait_front(uint32_t cbid, uint32_t ntiles);
void cb_pop_front(uint32_t cbid, uint32_t ntiles);
uint32_t read_tile_value(uint32_t cb_id, uint32_t tile_index, uint32_t element_offset);
void tile_regs_acquire();
void tile_regs_commit();
void tile_regs_wait();
void tile_regs_release();
template <SrcOrder src_order = SrcOrder::Regular> void compute_kernel_hw_startup(uint32_t icb0, uint32_t icb1, uint32_t ocb);
void compute_kernel_hw_startup(uint32_t icb0, uint32_t ocb);
void reconfig_data_format_srca(const uint32_t srca_new_operand);
void reconfig_data_format_srcb(const uint32_t srcb_new_operand);
template <bool is_tile_dim_reconfig_en = false> void pack_reconfig_data_format(const uint32_t new_cb_id);
void pack_reconfig_l1_acc(const uint32_t l1_acc_en);
template <bool out_of_order_output = false> void pack_tile(uint32_t ifrom_dst, uint32_t icb, std::uint32_t output_tile_index = 0);
void copy_tile_init(uint32_t cbid, uint32_t call_line = __builtin_LINE());
void copy_tile(uint32_t in_cb_id, uint32_t in_tile_index, uint32_t dst_tile_index);
void transpose_init(uint32_t icb, uint32_t call_line = __builtin_LINE());
void transpose_tile(uint32_t icb, uint32_t itile, uint32_t idst);
template <BroadcastType bcast_type> void unary_bcast_init(uint32_t icb);
template <BroadcastType bcast_type> void unary_bcast(uint32_t icb, uint32_t in_tile_index, uint32_t dst_tile_index);
void matmul_init(uint32_t in0_cb_id, uint32_t in1_cb_id, const uint32_t transpose = 0, uint32_t call_line = __builtin_LINE());
void matmul_tiles(uint32_t in0_cb_id, uint32_t in1_cb_id, uint32_t in0_tile_index, uint32_t in1_tile_index, uint32_t idst);
void matmul_block_init(uint32_t in0_cb_id, uint32_t in1_cb_id, const uint32_t transpose = 0, uint32_t ct_dim = 1, uint32_t rt_dim = 1,
                       uint32_t kt_dim = 1, uint32_t call_line = __builtin_LINE());
void matmul_block(uint32_t in0_cb_id, uint32_t in1_cb_id, uint32_t in0_tile_index, uint32_t in1_tile_index, uint32_t idst,
                  const uint32_t transpose, uint32_t ct_dim, uint32_t rt_dim, uint32_t kt_dim, uint32_t call_line = __builtin_LINE());
template <PoolType reduce_type, ReduceDim reduce_dim>
void reduce_init(std::uint32_t icb, std::uint32_t icb_scaler, std::uint32_t ocb, std::uint32_t call_line = __builtin_LINE());
void reduce_uninit(std::uint32_t icb = 0);
template <PoolType reduce_type, ReduceDim reduce_dim>
void reduce_tile(std::uint32_t icb, std::uint32_t icb_scaler, std::uint32_t itile, std::uint32_t itile_scaler, std::uint32_t idst);
void fill_tile_init();
void fill_tile(uint32_t idst, float param0);

#define STUB_FPU(name) \
    void name##_init(uint32_t icb0, uint32_t icb1, bool acc_to_dest = false, uint32_t call_line = __builtin_LINE()); \
    void name##_tiles(uint32_t icb0, uint32_t icb1, uint32_t itile0, uint32_t itile1, uint32_t idst);
STUB_FPU(add)
STUB_FPU(sub)
STUB_FPU(mul)
#define STUB_UNARY(name) \
    void name##_tile_init(); \
    void name##_tile(uint32_t idst);
STUB_UNARY(negative)
STUB_UNARY(abs)
STUB_UNARY(eqz)
STUB_UNARY(exp2)
STUB_UNARY(sin)
STUB_UNARY(cos)
STUB_UNARY(relu)
template <bool approx = false, uint32_t scale = 0x3F800000, InputClamping input_clamping = InputClamping::ClampToNegative> void exp_tile_init();
template <bool approx = false, bool scale_en = false, InputClamping input_clamping = InputClamping::ClampToNegative, int iterations = 8>
void exp_tile(uint32_t idst, VectorMode vector_mode = VectorMode::RC, uint16_t scale = p_sfpu::kCONST_1_FP16B);
template <bool fast_and_approx = false> void log_tile_init();
template <bool fast_and_approx = false> void log_tile(uint32_t idst);
template <bool fast_and_approx = false> void tanh_tile_init();
template <bool fast_and_approx = false> void tanh_tile(uint32_t idst);
template <bool fast_and_approx = true> void erf_tile_init();
template <bool fast_and_approx = true> void erf_tile(uint32_t idst);
void sqrt_tile_init();
template <bool FAST_APPROX = false> void sqrt_tile(uint32_t idst);
template <bool legacy_compat = false> void rsqrt_tile_init();
template <bool legacy_compat = false, bool FAST_APPROX = false> void rsqrt_tile(uint32_t idst);
void rounding_op_tile_init();
void floor_tile(uint32_t idst);
void ceil_tile(uint32_t idst);
void trunc_tile(uint32_t idst);
template <uint32_t IN_DTYPE, uint32_t OUT_DTYPE> void typecast_tile(uint32_t idst);
template <uint32_t IN_DTYPE, uint32_t OUT_DTYPE> void typecast_tile_init();
void where_tile_init();
template <DataFormat data_format> void where_tile(uint32_t idst0, uint32_t idst1, uint32_t idst2, uint32_t odst);
void binop_with_scalar_tile_init();
void add_unary_tile(uint32_t idst, uint32_t param1);
void sub_unary_tile(uint32_t idst, uint32_t param1);
void mul_unary_tile(uint32_t idst, uint32_t param1);
void rsub_unary_tile(uint32_t idst, uint32_t param1);
void unary_max_tile_init();
void unary_max_tile(uint32_t idst, uint32_t param0);
void unary_min_tile_init();
void unary_min_tile(uint32_t idst, uint32_t param0);
#define STUB_BINARY(name) \
    void name##_binary_tile_init(); \
    void name##_binary_tile(uint32_t idst0, uint32_t idst1, uint32_t odst);
STUB_BINARY(mul)
STUB_BINARY(div)
STUB_BINARY(power)
STUB_BINARY(eq)
STUB_BINARY(ne)
STUB_BINARY(lt)
STUB_BINARY(gt)
STUB_BINARY(le)
STUB_BINARY(ge)
void add_binary_tile_init();
template <DstRoundingMode dst_rounding_mode = DstRoundingMode::Default> void add_binary_tile(uint32_t idst0, uint32_t idst1, uint32_t odst);
void sub_binary_tile_init();
template <DstRoundingMode dst_rounding_mode = DstRoundingMode::Default> void sub_binary_tile(uint32_t idst0, uint32_t idst1, uint32_t odst);
void binary_max_tile_init();
void binary_max_tile(uint32_t idst0, uint32_t idst1, uint32_t odst, VectorMode vector_mode = VectorMode::RC);
void binary_min_tile_init();
void binary_min_tile(uint32_t idst0, uint32_t idst1, uint32_t odst, VectorMode vector_mode = VectorMode::RC);
} // namespace ckernel
using namespace ckernel;
#endif
