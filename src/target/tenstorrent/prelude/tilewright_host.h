/* SPDX-License-Identifier: Apache-2.0 */
/* tilewright_host.h: what an emitted host program rests on beside TT-Metalium (level v0.77): arguments from the command line,
 * arrays from .npy files, tensors as pages, numbers as 32-bit words. C++20.
 *
 *     program A=a.npy B=b.npy C=c.npy M=512 grid=16,16 --save C=out.npy --expect C=right.npy --tolerance 0.02 --place A */
#pragma once
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tensor_accessor_args.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tilewright_launch.h"
#include "tilewright_scalar.h"

/* An array of the caller. Extents and strides are in elements. One that lies on the device already, as tiles row by row
 * (TILE_LAYOUT, interleaved in DRAM), is used where it is: `tensor` is its buffer, and `bytes` is empty. */
struct TwArray {
    std::vector<uint8_t> bytes;
    std::vector<i64> extent, stride;
    std::string type; /* as in the .npy file: "<f4" */
    std::shared_ptr<tt::tt_metal::distributed::MeshBuffer> tensor;
    size_t width() const { return (size_t)std::atoi(type.c_str() + 2); }
    i64 elements() const {
        i64 all = 1;
        for (const i64 n : extent) all *= n;
        return all;
    }
    i64 byte_count() const { return elements() * (i64)width(); }
    /* Where elements are counted from: of what is on the device a number that no other array has. */
    template <typename T> T *data() {
        return reinterpret_cast<T *>(tensor ? (uintptr_t)tensor->address() << 6 : (uintptr_t)bytes.data());
    }
};

[[noreturn]] inline void tw_fail(const std::string &what) { throw std::runtime_error(what); }

/* ------------------------------------------------------------------------------------------------------- .npy */

inline TwArray tw_read_npy(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    char head[10] = {};
    if (!in.read(head, 10) || std::string(head, 6) != "\x93NUMPY") tw_fail(path + ": no .npy file");
    u32 length = (u8)head[8] | (u8)head[9] << 8;
    if (head[6] > 1) { /* later versions have a length of four bytes */
        char more[2];
        in.read(more, 2);
        length |= (u32)(u8)more[0] << 16 | (u32)(u8)more[1] << 24;
    }
    std::string text(length, ' ');
    in.read(text.data(), length);
    const size_t type = text.find("'descr': '"), shape = text.find("'shape': (");
    if (!in || type == std::string::npos || shape == std::string::npos || text.find("'fortran_order': False") == std::string::npos)
        tw_fail(path + ": a header that this program does not read; save a C-contiguous array");
    TwArray array;
    array.type = text.substr(type + 10, text.find('\'', type + 10) - type - 10);
    const char *at = text.c_str() + shape + 10;
    i64 elements = 1;
    while (*at && *at != ')') {
        char *end = nullptr;
        const i64 extent = std::strtoll(at, &end, 10);
        if (end == at) break;
        array.extent.push_back(extent);
        elements *= extent;
        for (at = end; *at == ',' || *at == ' '; ++at) {}
    }
    array.stride.assign(array.extent.size(), 1);
    for (size_t d = array.extent.size(); d-- > 1;) array.stride[d - 1] = array.stride[d] * array.extent[d];
    array.bytes.resize((size_t)elements * array.width());
    if (!in.read(reinterpret_cast<char *>(array.bytes.data()), (std::streamsize)array.bytes.size()) && elements) tw_fail(path + ": too short");
    return array;
}

inline void tw_write_npy(const std::string &path, const TwArray &array) {
    std::string text = "{'descr': '" + array.type + "', 'fortran_order': False, 'shape': (";
    for (const i64 extent : array.extent) text += std::to_string(extent) + ", ";
    text += "), }";
    while ((text.size() + 11) % 64) text += ' ';
    text += '\n';
    std::ofstream out(path, std::ios::binary);
    out.write("\x93NUMPY\x01\x00", 8);
    out.put((char)(text.size() & 255)).put((char)(text.size() >> 8)) << text;
    out.write(reinterpret_cast<const char *>(array.bytes.data()), (std::streamsize)array.bytes.size());
    if (!out) tw_fail("cannot write " + path);
}

/* Memory that the kernel states for itself. */
inline TwArray tw_space(const std::string &type, size_t width, const std::vector<i64> &extent) {
    TwArray array;
    array.type = type;
    array.extent = extent;
    array.stride.assign(extent.size(), 1);
    for (size_t d = extent.size(); d-- > 1;) array.stride[d - 1] = array.stride[d] * extent[d];
    array.bytes.resize((size_t)array.elements() * width);
    return array;
}

/* ---------------------------------------------------------------------------------------------- command line */

/* name=value for each parameter, grid=x,y,z, --save and --expect name=file, --tolerance number. */
struct TwCommand {
    std::map<std::string, std::string> values, save, expect;
    std::set<std::string> place; /* arrays that are put on the device before the launch, as tiles */
    double tolerance = 0.02;
    TwCommand(int count, char **words) {
        for (int i = 1; i < count; ++i) {
            std::string word = words[i];
            std::map<std::string, std::string> *to = &values;
            if (word.rfind("--", 0) == 0) {
                if (++i >= count) tw_fail(word + " needs a value");
                if (word == "--place") {
                    place.insert(words[i]);
                    continue;
                }
                if (word == "--tolerance") {
                    tolerance = std::atof(words[i]);
                    continue;
                }
                if (word != "--save" && word != "--expect") tw_fail("no option " + word);
                to = word == "--save" ? &save : &expect;
                word = words[i];
            }
            const size_t equals = word.find('=');
            if (equals == std::string::npos) tw_fail("`" + word + "`: write name=value");
            (*to)[word.substr(0, equals)] = word.substr(equals + 1);
        }
    }
    std::string text(const std::string &name) const {
        const auto found = values.find(name);
        if (found == values.end()) tw_fail("argument `" + name + "` is missing: " + name + "=..");
        return found->second;
    }
    /* A tensor of more dimensions than the array has one of extent 1 for each in front. */
    TwArray array(const std::string &name, const std::string &type, size_t rank = 0) const {
        TwArray array = tw_read_npy(text(name));
        if (array.type.size() < 3 || array.type.substr(1) != type.substr(1))
            tw_fail("argument `" + name + "`: elements are " + array.type + ", not " + type);
        if (rank && array.extent.size() > rank) tw_fail("argument `" + name + "` has more dimensions than " + std::to_string(rank));
        const i64 all = array.extent.empty() ? 1 : array.extent[0] * array.stride[0];
        while (array.extent.size() < rank) array.extent.insert(array.extent.begin(), 1), array.stride.insert(array.stride.begin(), all);
        return array;
    }
    void check_places(const std::set<std::string> &known) const {
        for (const std::string &name : place)
            if (!known.count(name)) tw_fail("`" + name + "` cannot be placed: no array of f32 or bf16 among the arguments has that name");
    }
    i64 integer(const std::string &name) const { return std::strtoll(text(name).c_str(), nullptr, 0); }
    f32 real(const std::string &name) const { return std::strtof(text(name).c_str(), nullptr); }
    std::array<i64, 3> grid() const {
        std::array<i64, 3> all{1, 1, 1};
        const std::string words = values.count("grid") ? text("grid") : "1";
        const char *at = words.c_str();
        for (int i = 0; i < 3 && *at; ++i) {
            char *end = nullptr;
            all[i] = std::strtoll(at, &end, 10);
            at = *end ? end + 1 : end;
        }
        return all;
    }
    /* Saves an array that was written, and compares it; true: it agrees, or nothing is expected. */
    template <typename T> bool finish(const std::string &name, const TwArray &array) const {
        if (save.count(name)) tw_write_npy(save.at(name), array);
        if (!expect.count(name)) return true;
        TwArray right = tw_read_npy(expect.at(name)), copy = array;
        if (right.bytes.size() != copy.bytes.size()) tw_fail("`" + name + "`: what is expected has another size");
        double error = 0, size = 0;
        for (size_t i = 0; i < copy.bytes.size() / sizeof(T); ++i) {
            const double x = tw_number(copy.data<T>()[i]), y = tw_number(right.data<T>()[i]);
            if (x == y || (x != x && y != y)) continue;
            error += (x - y) * (x - y);
            size += y * y;
        }
        const double relative = error == 0 ? 0 : std::sqrt(error / size);
        std::printf("%s: relative error %.3g\n", name.c_str(), relative);
        return relative <= tolerance;
    }
    static double tw_number(f32 x) { return x; }
    static double tw_number(f16 x) { return tw_f32(x); }
    static double tw_number(bf16 x) { return tw_f32(x); }
};

/* ------------------------------------------------------------------------------------------------------ pages */

/* Elements to pages of Float32, Float16_b and Int32, and back. */
template <typename T> inline void tw_to_page(void *, uint8_t *page, uint32_t place, uint8_t *from) {
    memcpy(page + sizeof(T) * place, from, sizeof(T));
}
template <> inline void tw_to_page<f16>(void *, uint8_t *page, uint32_t place, uint8_t *from) {
    f16 x;
    memcpy(&x, from, 2);
    const bf16 y = tw_bf16(tw_f32(x));
    memcpy(page + 2 * place, &y, 2);
}
template <typename T> inline void tw_index_to_page(void *, uint8_t *page, uint32_t place, uint8_t *from) {
    T x;
    memcpy(&x, from, sizeof x);
    const i32 word = (i32)x;
    if ((T)word != x) tw_fail("a number of a row that does not fit 32 bits");
    memcpy(page + 4 * place, &word, 4);
}
template <typename T> inline void tw_from_page(void *, uint8_t *page, uint32_t place, uint8_t *to) {
    memcpy(to, page + sizeof(T) * place, sizeof(T));
}
template <> inline void tw_from_page<f16>(void *, uint8_t *page, uint32_t place, uint8_t *to) {
    bf16 x;
    memcpy(&x, page + 2 * place, 2);
    const f16 y = tw_f16(tw_f32(x));
    memcpy(to, &y, 2);
}

/* A tensor, its pages, and the buffer in the device's memory. */
struct TwTensor {
    TwImage image{};
    std::vector<uint8_t> pages;
    std::shared_ptr<tt::tt_metal::distributed::MeshBuffer> buffer;
    bool bound = false; /* the caller's own */
    void place() {
        char text[320];
        if (!tw_place_image(&image, text)) tw_fail(text);
    }
    void make_pages() {
        pages.resize(tw_image_bytes(&image));
        image.data = pages.data();
    }
    /* Input: pages of `fill`, of so many bytes, and the elements in them. */
    void fill(u32 bits, u32 bytes, TwMove *to_page) {
        tw_fill_image(&image, bits, bytes);
        tw_move_elements(&image, to_page, nullptr);
    }
    void create(tt::tt_metal::distributed::MeshDevice *device,
                tt::tt_metal::BufferType memory = tt::tt_metal::BufferType::DRAM) {
        buffer = tt::tt_metal::distributed::MeshBuffer::create(
            tt::tt_metal::distributed::ReplicatedBufferConfig{.size = pages.size()},
            tt::tt_metal::distributed::DeviceLocalBufferConfig{.page_size = image.page_bytes,
                                                               .buffer_type = memory},
            device);
    }
    /* A tensor of the device, where it is: no page is copied. What is asked of it is that its tiles are these pages. */
    void bind(const TwArray &array, bool is_exact) {
        const int rank = image.layout.rank;
        const std::string who = "argument `" + std::string(image.name) + "` lies on the device";
        i64 step = 1;
        bool rows = image.layout.row < 0 || image.layout.row == rank - (image.layout.column < 0 ? 1 : 2);
        rows &= image.layout.column < 0 || image.layout.column == rank - 1;
        if (!is_exact) tw_fail(who + ": its elements travel in another format, it is read and written, or is to be in L1: pass an array");
        if (image.layout.paging == PAGE_VECTOR || image.layout.paging == PAGE_PLAIN || !rows)
            tw_fail(who + ": the kernel takes it in other pages than tiles: pass an array");
        for (int d = rank; d-- > 0; step *= image.extent[d]) {
            const bool paged = d == image.layout.row || d == image.layout.column;
            if (image.extent[d] > 1 && image.stride[d] != step) tw_fail(who + ": the kernel's view of it is not row-major");
            if (image.layout.grain[d] % image.layout.unit[d]) tw_fail(who + ": the kernel's blocks are no whole tiles");
            if (paged && !image.output && image.extent[d] % 32)
                tw_fail(who + ": extent " + std::to_string(image.extent[d]) + " leaves part of a tile, of which nobody knows what is "
                        "in it: pass an array, or pad it");
        }
        if (image.low || image.base != image.memory) tw_fail(who + ": the kernel's view of it begins behind its start");
        if (array.tensor->page_size() != image.page_bytes || array.tensor->size() != tw_image_bytes(&image))
            tw_fail(who + ": " + std::to_string(array.tensor->size()) + " bytes in pages of " + std::to_string(array.tensor->page_size()) +
                    ", the kernel takes " + std::to_string(tw_image_bytes(&image)) + " in pages of " + std::to_string(image.page_bytes));
        buffer = array.tensor;
        bound = true;
    }
    void plain_back() {
        image.data = pages.data();
        tw_plain_out(&image);
    }
    void back(TwMove *from_page) {
        const std::unique_ptr<bool[]> written(new bool[(size_t)image.total + 1]);
        image.data = pages.data();
        image.written = written.get();
        tw_find_written(&image);
        tw_move_elements(&image, from_page, nullptr);
        image.written = nullptr;
    }
};

/* An array of numbers of T as a tensor of the device (--place): tiles of its last two dimensions, padded with zeros. */
template <typename T> struct TwPlaced {
    TwTensor tensor;
    TwPlaced(const TwCommand &command, const char *name, tt::tt_metal::distributed::MeshDevice *device, TwArray &array) {
        if (!command.place.count(name)) return;
        TwImage &image = tensor.image;
        const size_t rank = array.extent.size();
        image.name = name;
        image.layout.paging = PAGE_TILE;
        image.layout.rank = rank > 1 ? (int)rank : 2; /* a vector is a row */
        image.layout.row = image.layout.rank - 2;
        image.layout.column = image.layout.rank - 1;
        for (int d = 0; d < image.layout.rank; ++d) {
            const int from = d + (int)rank - image.layout.rank;
            image.layout.grain[d] = image.layout.unit[d] = d < image.layout.row ? 1 : 32;
            image.extent[d] = from < 0 ? 1 : array.extent[from];
            image.stride[d] = from < 0 ? 0 : array.stride[from];
        }
        image.element_bytes = sizeof(T);
        image.page_bytes = 1024 * sizeof(T);
        image.memory = image.base = array.bytes.data();
        image.memory_bytes = (i64)array.bytes.size();
        tensor.place();
        tensor.make_pages();
        tensor.fill(0, sizeof(T), tw_to_page<T>);
        tensor.create(device);
        tt::tt_metal::distributed::EnqueueWriteMeshBuffer(device->mesh_command_queue(), tensor.buffer, tensor.pages, true);
        array.tensor = tensor.buffer;
        array.bytes.clear();
    }
    void fetch(tt::tt_metal::distributed::MeshDevice *device, TwArray &array) {
        if (!tensor.buffer) return;
        array.tensor = nullptr;
        array.bytes.resize((size_t)array.byte_count());
        tt::tt_metal::distributed::EnqueueReadMeshBuffer(device->mesh_command_queue(), tensor.pages, tensor.buffer, true);
        tensor.image.memory = tensor.image.base = array.bytes.data();
        tensor.back(tw_from_page<T>);
    }
};

/* ------------------------------------------------------------------------------------------------------ words */

/* Arguments of kernels are words of 32 bits. */
inline u32 tw_word(const char *name, i64 number, bool is_signed) {
    if (number < INT32_MIN || number > (is_signed ? (i64)INT32_MAX : (i64)UINT32_MAX))
        tw_fail("argument `" + std::string(name) + "` is " + std::to_string(number) + "; numbers must fit 32 bits");
    return (u32)number;
}

inline TwPoint tw_noc_point(const void *device, TwPoint core) {
    const auto at = static_cast<const tt::tt_metal::distributed::MeshDevice *>(device)->worker_core_from_logical_core(CoreCoord(core.x, core.y));
    return TwPoint{(u32)at.x, (u32)at.y};
}
