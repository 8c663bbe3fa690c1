# What `make install` puts where, what finds it, and `make uninstall`.
# requires: make cc pkg-config cmake readelf
$ B=$(dirname "$(command -v tilewright)"); make -s -C "$ROOT" -o all B="$B" install PREFIX=$PWD/out >log 2>&1 || cat log; find out ! -type d | sort
out/bin/tilewright
out/include/tilewright.h
out/lib/cmake/tilewright/tilewright-config-version.cmake
out/lib/cmake/tilewright/tilewright-config.cmake
out/lib/libtilewright.a
out/lib/libtilewright.so
out/lib/libtilewright.so.0
out/lib/libtilewright.so.0.1.0
out/lib/pkgconfig/tilewright.pc
out/share/bash-completion/completions/tilewright
out/share/man/man1/tilewright.1
out/share/zsh/site-functions/_tilewright
$ readelf -d out/lib/libtilewright.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'
libtilewright.so.0
$ PKG_CONFIG_PATH=$PWD/out/lib/pkgconfig; export PKG_CONFIG_PATH; cc "$ROOT/examples/vector_add.c" $(pkg-config --cflags --libs tilewright) -o add && LD_LIBRARY_PATH=out/lib ./add && pkg-config --modversion tilewright && out/bin/tilewright version
999 + 1000 = 1999
0.1.0
tilewright 0.1.0
$ mkdir app && cp "$ROOT/examples/vector_add.c" app && cat > app/CMakeLists.txt <<'END'
> cmake_minimum_required(VERSION 3.13)
> project(app C)
> find_package(tilewright 0.1 REQUIRED)
> add_executable(shared vector_add.c)
> target_link_libraries(shared tilewright::tilewright)
> add_executable(static vector_add.c)
> target_link_libraries(static tilewright::static)
> END
$ cmake -S app -B app/build -DCMAKE_PREFIX_PATH=$PWD/out >log 2>&1 && cmake --build app/build >>log 2>&1 || tail log; app/build/shared && app/build/static
999 + 1000 = 1999
999 + 1000 = 1999
$ sed -i 's/0.1 REQ/1.0 REQ/' app/CMakeLists.txt; cmake -S app -B app/other -DCMAKE_PREFIX_PATH=$PWD/out 2>&1 | grep -c "compatible with requested version"
1
$ touch out/lib/mine; make -s -C "$ROOT" uninstall PREFIX=$PWD/out; find out ! -type d
out/lib/mine
