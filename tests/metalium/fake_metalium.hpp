// SPDX-License-Identifier: Apache-2.0
/* fake_metalium.hpp: the calls of TT-Metalium's host API that emitted host programs make, level v0.77, with the functional model of
 * the Tensix grid behind them.
 *
 * Types, names and parameters are those of the public headers at tag v0.77; what no emitted program uses is left out. A mistake in
 * their use throws: sizes that differ, cores without a kernel, two data kernels on one NoC, semaphores or circular buffers that there
 * are not. Programs run when they are enqueued (fake_device.c). FAKE_ARCH=blackhole, FAKE_SEED=n choose the chip and the order in
 * which writes land. */
#pragma once
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "fake_device.h"

namespace ttsl {
template <typename T> using Span = std::span<T>;
}
constexpr static std::uint32_t NUM_CIRCULAR_BUFFERS = 64;

struct tt_xy_pair {
    constexpr tt_xy_pair() : x{}, y{} {}
    constexpr tt_xy_pair(std::size_t x_, std::size_t y_) : x(x_), y(y_) {}
    std::size_t x, y;
    constexpr auto operator<=>(const tt_xy_pair &) const = default;
};
using CoreCoord = tt_xy_pair;

class CoreRange {
public:
    CoreRange(const CoreCoord &point) : start_coord(point), end_coord(point) {}
    CoreRange(const CoreCoord &start, const CoreCoord &end) : start_coord(start), end_coord(end) {}
    CoreCoord start_coord, end_coord;
};
class CoreRangeSet {
public:
    CoreRangeSet() = default;
    CoreRangeSet(const CoreRange &range) : ranges_{range} {}
    CoreRangeSet(std::vector<CoreRange> &&ranges) : ranges_(std::move(ranges)) {}
    const std::vector<CoreRange> &ranges() const { return ranges_; }

private:
    std::vector<CoreRange> ranges_;
};

namespace tt {
enum class DataFormat : uint8_t { Float32 = 0, Float16_b = 5, Bfp8_b = 6, Int32 = 8, UInt16 = 9, UInt32 = 24 };
}

namespace tt::tt_metal {
using DeviceAddr = std::uint64_t;
using KernelHandle = std::uint32_t;
using CBHandle = uintptr_t;
enum class MathFidelity : uint8_t { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4, Invalid = 0xff };
enum class UnpackToDestMode : uint8_t { UnpackToDestFp32, Default };
enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class DataMovementProcessor { RISCV_0 = 0, RISCV_1 = 1 };
enum NOC : uint8_t { RISCV_0_default = 0, RISCV_1_default = 1, NOC_0 = 0, NOC_1 = 1 };
enum NOC_MODE : uint8_t { DM_DEDICATED_NOC = 0, DM_DYNAMIC_NOC = 1 };
enum class KernelBuildOptLevel : uint8_t { O1, O2, O3, O0, Os, Ofast, Oz };

struct DataMovementConfig {
    DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
    NOC noc = NOC::RISCV_0_default;
    NOC_MODE noc_mode = NOC_MODE::DM_DEDICATED_NOC;
    std::vector<uint32_t> compile_args;
    std::map<std::string, std::string> defines;
    std::unordered_map<std::string, uint32_t> named_compile_args;
    KernelBuildOptLevel opt_level = KernelBuildOptLevel::O2;
    std::vector<std::filesystem::path> compiler_include_paths;
};
struct ComputeConfig {
    MathFidelity math_fidelity = MathFidelity::HiFi4;
    bool fp32_dest_acc_en = false;
    bool dst_full_sync_en = false;
    std::vector<UnpackToDestMode> unpack_to_dest_mode;
    bool bfp8_pack_precise = false;
    bool math_approx_mode = false;
    std::vector<uint32_t> compile_args;
    std::map<std::string, std::string> defines;
    std::unordered_map<std::string, uint32_t> named_compile_args;
    KernelBuildOptLevel opt_level = KernelBuildOptLevel::O3;
    std::vector<std::filesystem::path> compiler_include_paths;
};

class CircularBufferConfig {
public:
    CircularBufferConfig(uint32_t total_size, const std::map<uint8_t, tt::DataFormat> &data_format_spec)
        : total(total_size), formats(data_format_spec) {}
    CircularBufferConfig &set_page_size(uint8_t buffer_index, uint32_t page_size) {
        if (!formats.count(buffer_index)) throw std::runtime_error("a page size of a circular buffer that has no format");
        if (!page_size || total % page_size) throw std::runtime_error("a circular buffer that is no multiple of its page size");
        pages[buffer_index] = page_size;
        return *this;
    }
    uint32_t total;
    std::map<uint8_t, tt::DataFormat> formats;
    std::map<uint8_t, uint32_t> pages;
};

using Cores = std::variant<CoreCoord, CoreRange, CoreRangeSet>;
inline std::set<CoreCoord> fake_cores(const Cores &spec) {
    std::vector<CoreRange> ranges;
    if (const auto *point = std::get_if<CoreCoord>(&spec))
        ranges.push_back(CoreRange(*point));
    else if (const auto *range = std::get_if<CoreRange>(&spec))
        ranges.push_back(*range);
    else
        ranges = std::get<CoreRangeSet>(spec).ranges();
    std::set<CoreCoord> all;
    for (const CoreRange &range : ranges)
        for (size_t y = range.start_coord.y; y <= range.end_coord.y; ++y)
            for (size_t x = range.start_coord.x; x <= range.end_coord.x; ++x)
                if (!all.insert(CoreCoord(x, y)).second) throw std::runtime_error("ranges of cores overlap");
    if (all.empty()) throw std::runtime_error("no cores");
    return all;
}

struct FakeKernelOfProgram {
    std::string file;
    std::set<CoreCoord> cores;
    std::variant<DataMovementConfig, ComputeConfig> config;
    std::map<CoreCoord, std::vector<uint32_t>> args;
    std::vector<uint32_t> common;
};
class Program {
public:
    Program() = default;
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;
    Program(Program &&) noexcept = default;
    Program &operator=(Program &&) noexcept = default;
    /* The fake's own: */
    mutable std::vector<FakeKernelOfProgram> kernels;
    std::vector<CircularBufferConfig> cbs;
    std::vector<uint32_t> semaphores;
};

inline KernelHandle CreateKernel(Program &program, const std::string &file_name, const Cores &core_spec,
                                 const std::variant<DataMovementConfig, ComputeConfig> &config) {
    program.kernels.push_back({file_name, fake_cores(core_spec), config, {}, {}});
    return (KernelHandle)program.kernels.size() - 1;
}
inline CBHandle CreateCircularBuffer(Program &program, const Cores &core_spec, const CircularBufferConfig &config) {
    fake_cores(core_spec);
    program.cbs.push_back(config);
    return program.cbs.size() - 1;
}
inline uint32_t CreateSemaphore(Program &program, const std::variant<CoreRange, CoreRangeSet> &, uint32_t initial_value) {
    program.semaphores.push_back(initial_value);
    return (uint32_t)program.semaphores.size() - 1;
}
inline void SetRuntimeArgs(const Program &program, KernelHandle kernel, const Cores &core_spec, ttsl::Span<const uint32_t> runtime_args) {
    if (runtime_args.size() > 341) throw std::runtime_error("too many runtime arguments");
    for (const CoreCoord &core : fake_cores(core_spec)) {
        if (!program.kernels.at(kernel).cores.count(core)) throw std::runtime_error("runtime arguments for a core without the kernel");
        program.kernels.at(kernel).args[core].assign(runtime_args.begin(), runtime_args.end());
    }
}
inline void SetCommonRuntimeArgs(const Program &program, KernelHandle kernel_id, ttsl::Span<const uint32_t> runtime_args) {
    if (!program.kernels.at(kernel_id).common.empty()) throw std::runtime_error("common runtime arguments are set once");
    program.kernels.at(kernel_id).common.assign(runtime_args.begin(), runtime_args.end());
}

namespace distributed {
struct DeviceLocalBufferConfig {
    DeviceAddr page_size = 0;
    BufferType buffer_type = BufferType::DRAM;
};
struct ReplicatedBufferConfig {
    DeviceAddr size = 0;
};
using MeshBufferConfig = std::variant<ReplicatedBufferConfig>;
struct MeshShape {};
class MeshCoordinateRange {
public:
    explicit MeshCoordinateRange(const MeshShape &) {}
};

class MeshBuffer;
class MeshCommandQueue;
class MeshDevice {
public:
    static std::shared_ptr<MeshDevice> create_unit_mesh(int device_id) {
        if (device_id) throw std::runtime_error("there is one device");
        return std::make_shared<MeshDevice>();
    }
    MeshCommandQueue &mesh_command_queue(std::optional<uint8_t> cq_id = std::nullopt) const;
    CoreCoord compute_with_storage_grid_size() const {
        unsigned x, y;
        fake_grid(fake_arch(), &x, &y);
        return CoreCoord(x, y);
    }
    CoreCoord worker_core_from_logical_core(const CoreCoord &logical_core) const {
        unsigned x = (unsigned)logical_core.x, y = (unsigned)logical_core.y;
        fake_noc_point(fake_arch(), &x, &y);
        return CoreCoord(x, y);
    }
    MeshShape shape() const { return {}; }
    bool close() {
        if (closed) throw std::runtime_error("the device is closed twice");
        return closed = true;
    }
    bool closed = false;
    std::vector<MeshBuffer *> buffers;
};

class MeshBuffer {
public:
    static std::shared_ptr<MeshBuffer> create(const MeshBufferConfig &mesh_buffer_config, const DeviceLocalBufferConfig &device_local_config,
                                              MeshDevice *mesh_device, std::optional<DeviceAddr> = std::nullopt) {
        const DeviceAddr size = std::get<ReplicatedBufferConfig>(mesh_buffer_config).size, page = device_local_config.page_size;
        if (!page || !size || size % page) throw std::runtime_error("a buffer that is no multiple of its page size");
        auto made = std::make_shared<MeshBuffer>();
        made->device = mesh_device;
        made->data.resize(size);
        made->page = (uint32_t)page;
        made->in_l1 = device_local_config.buffer_type == BufferType::L1;
        const MeshBuffer *last = nullptr;
        for (const MeshBuffer *other : mesh_device->buffers)
            if (other->in_l1 == made->in_l1) last = other;
        if (made->in_l1) {
            made->at = (last ? last->at : fake_l1_end(fake_arch())) - fake_l1_share(fake_arch(), (unsigned)(size / page), (unsigned)page);
            mesh_device->buffers.push_back(made.get());
            return made;
        }
        made->at = fake_address(fake_arch(), last ? last->at : 0, last ? (uint32_t)(last->data.size() / last->page) : 0, last ? last->page : 0);
        mesh_device->buffers.push_back(made.get());
        return made;
    }
    ~MeshBuffer() { /* its memory is free again */
        for (size_t i = 0; device && i < device->buffers.size(); ++i)
            if (device->buffers[i] == this) device->buffers.erase(device->buffers.begin() + (long)i--);
    }
    DeviceAddr size() const { return data.size(); }
    DeviceAddr address() const { return at; }
    uint32_t page_size() const { return page; }
    std::vector<uint8_t> data;
    uint32_t page = 0, at = 0;
    bool in_l1 = false;
    MeshDevice *device = nullptr;
};

class MeshCommandQueue {
public:
    MeshDevice *device = nullptr;
};
inline MeshCommandQueue &MeshDevice::mesh_command_queue(std::optional<uint8_t>) const {
    static MeshCommandQueue queue;
    queue.device = const_cast<MeshDevice *>(this);
    return queue;
}

class MeshWorkload {
public:
    void add_program(const MeshCoordinateRange &, Program &&program) { programs.push_back(std::move(program)); }
    std::vector<Program> programs;
};

template <typename DType>
void EnqueueWriteMeshBuffer(MeshCommandQueue &, std::shared_ptr<MeshBuffer> &mesh_buffer, const std::vector<DType> &src, bool = false) {
    if (src.size() * sizeof(DType) < mesh_buffer->size()) throw std::runtime_error("the source vector is too small for its buffer");
    std::memcpy(mesh_buffer->data.data(), src.data(), mesh_buffer->data.size());
}
template <typename DType>
void EnqueueReadMeshBuffer(MeshCommandQueue &, std::vector<DType> &dst, std::shared_ptr<MeshBuffer> &mesh_buffer, bool = true) {
    dst.resize(mesh_buffer->size() / sizeof(DType));
    std::memcpy(dst.data(), mesh_buffer->data.data(), mesh_buffer->data.size());
}

inline std::string fake_words(const std::vector<uint32_t> &words) {
    std::string text;
    for (const uint32_t word : words) text += (text.empty() ? "" : ", ") + std::to_string(word);
    return text;
}

inline void fake_run(MeshDevice *device, Program &program) {
    FakeProgram run{};
    run.arch = fake_arch();
    run.seed = std::getenv("FAKE_SEED") ? std::strtoull(std::getenv("FAKE_SEED"), nullptr, 10) : 0;
    std::vector<FakeCore> cores;
    std::vector<FakeCb> cbs;
    std::vector<FakeBuffer> buffers;
    std::vector<FakeKernel> kernels;
    std::vector<std::string> texts(program.kernels.size());
    std::vector<std::vector<const uint32_t *>> args(program.kernels.size());
    std::vector<UnpackToDestMode> unpack;
    std::set<int> nocs;
    for (const CoreCoord &core : program.kernels.at(0).cores) cores.push_back({(unsigned)core.x, (unsigned)core.y});
    for (size_t i = 0; i < program.kernels.size(); ++i) {
        FakeKernelOfProgram &kernel = program.kernels[i];
        if (kernel.cores != program.kernels[0].cores) throw std::runtime_error("kernels of different cores");
        FakeKernel made{};
        made.processor = 2;
        if (const auto *data = std::get_if<DataMovementConfig>(&kernel.config)) {
            if (!nocs.insert(data->noc).second) throw std::runtime_error("two data kernels of a core share a NoC");
            made.processor = data->processor == DataMovementProcessor::RISCV_1 ? 0 : 1;
            if (made.processor != (int)data->noc) throw std::runtime_error("the model has RISCV_1 on NoC 0 and RISCV_0 on NoC 1");
            texts[i] = fake_words(data->compile_args);
        } else {
            const auto &compute = std::get<ComputeConfig>(kernel.config);
            run.fidelity = compute.math_fidelity == MathFidelity::LoFi ? 1 : (unsigned)compute.math_fidelity;
            run.dst_fp32 = compute.fp32_dest_acc_en;
            run.full_sync = compute.dst_full_sync_en;
            unpack = compute.unpack_to_dest_mode;
            texts[i] = fake_words(compute.compile_args);
        }
        made.file = kernel.file.c_str();
        made.compile_args = texts[i].c_str();
        made.common = kernel.common.data();
        made.common_count = (unsigned)kernel.common.size();
        for (const CoreCoord &core : kernel.cores) {
            if (!kernel.args.count(core)) throw std::runtime_error("a core without runtime arguments");
            args[i].push_back(kernel.args[core].data());
            made.arg_count = (unsigned)kernel.args[core].size();
        }
        made.args = args[i].data();
        kernels.push_back(made);
    }
    for (const CircularBufferConfig &cb : program.cbs)
        for (const auto &[id, format] : cb.formats) {
            const bool exact = id < unpack.size() && unpack[id] == UnpackToDestMode::UnpackToDestFp32;
            cbs.push_back({id, (unsigned)format, cb.pages.at(id), cb.total / cb.pages.at(id), exact});
        }
    for (MeshBuffer *buffer : device->buffers)
        buffers.push_back({buffer->at, buffer->page, (unsigned)(buffer->data.size() / buffer->page), buffer->data.data(), buffer->in_l1});
    run.cores = cores.data(), run.core_count = (unsigned)cores.size();
    run.cbs = cbs.data(), run.cb_count = (unsigned)cbs.size();
    run.buffers = buffers.data(), run.buffer_count = (unsigned)buffers.size();
    run.kernels = kernels.data(), run.kernel_count = (unsigned)kernels.size();
    run.semaphores = program.semaphores.data(), run.semaphore_count = (unsigned)program.semaphores.size();
    if (const char *problem = fake_execute(&run)) throw std::runtime_error(problem);
}
inline void EnqueueMeshWorkload(MeshCommandQueue &mesh_cq, MeshWorkload &mesh_workload, bool) {
    for (Program &program : mesh_workload.programs) fake_run(mesh_cq.device, program);
}
} // namespace distributed

class TensorAccessorArgs {
public:
    explicit TensorAccessorArgs(const distributed::MeshBuffer &buffer) : page(buffer.page_size()), in_l1(buffer.in_l1) {}
    void append_to(std::vector<uint32_t> &compile_time_args) const {
        compile_time_args.push_back(in_l1 ? 0 : 2); /* interleaved, in DRAM */
        compile_time_args.push_back(page);
    }

private:
    uint32_t page;
    bool in_l1;
};
} // namespace tt::tt_metal
