# The cache of compiled kernels: what it holds, and less of it.
# requires: gcc python3
$ cp "$ROOT/kernels/triton/add.py" . && echo add.py --arg x_ptr=arange:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --grid 1 -D BLOCK_SIZE=8 > run
$ TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright cache
.../cache
0 entries, 0 bytes; at most 4.0 GB (TILEWRIGHT_CACHE_LIMIT)
$ TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright run $(cat run) && TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright cache | tail -1
output_ptr: f32[8], 8 of 8 elements changed
3 entries, ... KB; at most 4.0 GB (TILEWRIGHT_CACHE_LIMIT)
$ TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright cache --list | sed 1,2d | sed 's/.*[.]//' | sort
last
so
so
$ TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright cache --list --json | python3 -c 'import json, sys; c = json.load(sys.stdin); print(c["entries"], len(c["list"]), c["bytes"] == sum(e["bytes"] for e in c["list"]), c["limit"])'
3 3 True 4294967296
$ TILEWRIGHT_CACHE_LIMIT=100M TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright cache --limit 1M | tail -1
3 entries, ... KB; at most 100.0 MB (TILEWRIGHT_CACHE_LIMIT)
$ TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright cache --limit 2k | tail -1
... entries, ... bytes; at most 4.0 GB (TILEWRIGHT_CACHE_LIMIT)
$ TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright cache --clear | tail -1; find cache -type f
0 entries, 0 bytes; at most 4.0 GB (TILEWRIGHT_CACHE_LIMIT)
$ TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright run $(cat run)
output_ptr: f32[8], 8 of 8 elements changed
$ tilewright cache --limit much
error: --limit takes a size, as in 500M or 2G, not `much`
[1]
$ /usr/bin/env -u HOME -u TILEWRIGHT_CACHE_DIR -u XDG_CACHE_HOME tilewright cache
there is no cache: set TILEWRIGHT_CACHE_DIR, or HOME
#! What a file holds, and what runs here, for programs.
$ tilewright list add.py --json
[
  {"name": "add_kernel", "has_grid": false, "parameters": [{"name": "x_ptr", "kind": "open", "dtype": "any", "rank": -1, "optional": false}, {"name": "y_ptr", "kind": "open", "dtype": "any", "rank": -1, "optional": false}, {"name": "output_ptr", "kind": "open", "dtype": "any", "rank": -1, "optional": false}, {"name": "n_elements", "kind": "open", "dtype": "any", "rank": -1, "optional": false}, {"name": "BLOCK_SIZE", "kind": "constant", "dtype": "any", "rank": -1, "optional": false}], "configs": []}]
$ tilewright targets --json | python3 -c 'import json, sys; print([t["name"] for t in json.load(sys.stdin)])'
['cpu', 'cuda', 'cuda-emulated', ...'interp', 'tenstorrent']
$ tilewright list nowhere.py --json
{"severity": "error", "code": "", "text": "nowhere.py cannot be read: No such file or directory", "fix": "", "file": null, "notes": []}
[1]
$ TILEWRIGHT_CACHE_LIMIT=banana tilewright cache 2>&1 | head -1
warning: TILEWRIGHT_CACHE_LIMIT is `banana`, which is no size, and has no effect; write it as in 500M or 2G
