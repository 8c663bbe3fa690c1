# SPDX-License-Identifier: Apache-2.0
"""gpu_library.py: libtilewright.so from Python by its C API alone, as much of it as the GPU bench needs.

    library = Library()                                   one context, with the cache on disk; Library(cache=False) without
    run = library.compile("add.py", "add_kernel", values, options)
    run()                                                 launches; on the default stream

`values` maps parameters to tensors (anything with data_ptr, shape, stride and dtype), numbers or None, and "grid" to a tuple."""
import ctypes
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
c_int, c_size, c_text, c_void = ctypes.c_int32, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p


class Arg(ctypes.Structure):
    _fields_ = [("kind", c_int), ("flags", c_int), ("i", ctypes.c_int64)]


class Pair(ctypes.Structure):
    _fields_ = [("name", c_text), ("value", c_text)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size), ("allocator", c_void), ("cache_dir", c_text)]


class ModuleOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size), ("door", c_text), ("defines", ctypes.POINTER(Pair)), ("define_count", c_size)]


class CompileOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size), ("target", c_text), ("args", ctypes.POINTER(Arg)), ("arg_count", c_size),
                ("options", ctypes.POINTER(Pair)), ("option_count", c_size), ("passes", c_text), ("stop_after", c_text)] + \
               [(name, c_int) for name in ("stage", "emulate", "sanitize", "verify_each", "keep_ir")]


class BufferOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size), ("target", c_text), ("data", c_void), ("size", c_size), ("strides", c_void)]


class ParamInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size), ("name", c_text), ("kind", c_int), ("dtype", c_int), ("rank", c_int), ("optional", c_int)]


class Library:

    def __init__(self, cache=True):
        self.lib = lib = ctypes.CDLL(os.path.join(ROOT, os.environ.get("TILEWRIGHT_BUILD", "build"), "libtilewright.so"))
        lib.tw_context_message.restype = c_text
        lib.tw_context_message.argtypes = lib.tw_kernel_destroy.argtypes = lib.tw_module_destroy.argtypes = [c_void]
        lib.tw_module_kernel_find.restype = lib.tw_module_param_count.restype = c_size
        lib.tw_module_kernel_find.argtypes = [c_void, c_text]
        lib.tw_module_param_count.argtypes = [c_void, c_size]
        lib.tw_module_param_at.argtypes = [c_void, c_size, c_size, ctypes.POINTER(ParamInfo)]
        lib.tw_module_load_file.argtypes = [c_void, c_text, c_void, ctypes.POINTER(c_void)]
        lib.tw_kernel_compile.argtypes = [c_void, c_text, ctypes.POINTER(CompileOptions), ctypes.POINTER(c_void)]
        lib.tw_kernel_launch.argtypes = [c_void, c_void, c_void, ctypes.POINTER(Arg), c_size]
        lib.tw_buffer_create.argtypes = [c_void, c_int, c_int, c_void, ctypes.POINTER(BufferOptions), ctypes.POINTER(c_void)]
        lib.tw_dtype_find.argtypes = [c_text]
        self.context = c_void()
        options = ContextOptions(ctypes.sizeof(ContextOptions), None, None if cache else b"")
        lib.tw_context_create(ctypes.byref(options), ctypes.byref(self.context))
        self.modules = {}

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.tw_context_message(self.context).decode())

    def load(self, path, defines=()):
        module = c_void()
        pairs = (Pair * len(defines))(*[Pair(name.encode(), str(value).encode()) for name, value in defines])
        options = ModuleOptions(ctypes.sizeof(ModuleOptions), None, pairs, len(defines))
        self.check(self.lib.tw_module_load_file(self.context, path.encode(), ctypes.byref(options), ctypes.byref(module)))
        return module

    def module(self, path, defines=()):
        key = path, defines
        if key not in self.modules:
            self.modules[key] = self.load(path, defines)
        return self.modules[key]

    def arg(self, value):
        if value is None:
            return Arg(1, 0, 0)
        if isinstance(value, bool):
            return Arg(2, 0, value)
        if isinstance(value, int):
            return Arg(3, 0, value)
        if isinstance(value, float):
            return Arg(4, 0, ctypes.c_int64.from_buffer_copy(ctypes.c_double(value)).value)
        rank = len(value.shape)
        shape, strides = (ctypes.c_int64 * rank)(*value.shape), (ctypes.c_int64 * rank)(*value.stride())
        options = BufferOptions(ctypes.sizeof(BufferOptions), b"cuda", value.data_ptr(), value.numel() * value.element_size(),
                                ctypes.cast(strides, c_void))
        buffer = c_void()
        dtype = self.lib.tw_dtype_find(str(value.dtype).split(".")[-1].encode())
        self.check(self.lib.tw_buffer_create(self.context, dtype, rank, shape, ctypes.byref(options), ctypes.byref(buffer)))
        return Arg(6, 0, buffer.value)

    def arguments(self, module, name, values):
        kernel = self.lib.tw_module_kernel_find(module, name.encode())
        args, info = [], ParamInfo(ctypes.sizeof(ParamInfo))
        for i in range(self.lib.tw_module_param_count(module, kernel)):
            self.check(self.lib.tw_module_param_at(module, kernel, i, ctypes.byref(info)))
            key = info.name.decode()
            args.append(self.arg(values[key]) if key in values else Arg(0, 0, 0))
        return (Arg * len(args))(*args)

    def build(self, module, name, args, options):
        pairs = (Pair * len(options))(*[Pair(k.encode(), str(v).encode()) for k, v in options.items()])
        request = CompileOptions(ctypes.sizeof(CompileOptions), b"cuda", args, len(args), pairs, len(options))
        kernel = c_void()
        self.check(self.lib.tw_kernel_compile(module, name.encode(), ctypes.byref(request), ctypes.byref(kernel)))
        return kernel

    def compile(self, path, name, values, options, defines=()):
        """A function without arguments that launches; without a grid, over the kernel's own."""
        module = self.module(path, tuple(defines))
        args = self.arguments(module, name, values)
        kernel = self.build(module, name, args, options)
        grid = values["grid"] and (ctypes.c_int64 * 3)(*(tuple(values["grid"]) + (1, 1))[:3])
        launch, count = self.lib.tw_kernel_launch, len(args)

        def run():
            status = launch(kernel, None, grid, args, count)
            if status:
                self.check(status)
        return run

    def compile_once(self, path, name, values, options):
        """Source to a loaded kernel, and away with it: what a cold compile is."""
        module = self.load(path)
        kernel = self.build(module, name, self.arguments(module, name, values), options)
        self.lib.tw_kernel_destroy(kernel)
        self.lib.tw_module_destroy(module)
