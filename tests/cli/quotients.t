# Quotients and what they leave share a division in CUDA text, without a branch for a divisor of 0: x div 0 is 0, x rem 0 is x.
# requires: c++
$ cat > quotients.ir <<'END'
> kernel @quotients(%x, %y, %o: *T) {
>   %i = iota<0, 512> ; %px = ptr_add %x, %i ; %py = ptr_add %y, %i ; %few = load %px ; %b = load %py
>   %odd = rem %i, 2 ; %first = cmp<eq> %odd, 0 ; %far = not %few ; %a = select %first, %few, %far
>   %d = div %a, %b ; %r = rem %a, %b ; %c = cdiv %a, %b
>   %o0 = ptr_add %o, %i ; store %o0, %d
>   %o1 = ptr_add %o0, 512 ; store %o1, %r
>   %o2 = ptr_add %o1, 512 ; store %o2, %c
>   return }
> END
$ for t in u32 u64 i32 i64; do sed "s/T)/$t)/" quotients.ir > $t.ir; tilewright check $t.ir --target cuda --emulate --grid 1 --arg x=arange:$t[512] --arg "y=randint(9):$t[512]" --arg o=zeros:$t[1536] | grep ^o; done
o: u32[1536], max error 0: ok
o: u64[1536], max error 0: ok
o: i32[1536], max error 0: ok
o: i64[1536], max error 0: ok
