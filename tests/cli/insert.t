# Pieces of lower rank that are put into a tile: an element, and a row.
$ for t in cpu "cuda --emulate" "hip --emulate"; do tilewright check "$ROOT/tests/fuzz/insert_of_lower_rank.ir" --grid 1 --target $t --arg x=randn:f32[4] --arg y=zeros:f32[4,8] | grep -c ok; done
2
2
2
