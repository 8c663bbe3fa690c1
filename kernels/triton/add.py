import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(
    x_ptr,  # Pointer to first vector
    y_ptr,  # Pointer to second vector
    output_ptr, # Pointer to output
    n_elements, # Size of vector
    BLOCK_SIZE: tl.constexpr, # Meta-parameter
):
    # 1. Identify which program instance (thread block) this is
    pid = tl.program_id(axis=0)
    
    # 2. Identify offsets
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    
    # 3. Mask (boundary check)
    mask = offsets < n_elements
    
    # 4. Load data
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    
    # 5. Compute
    output = x + y
    
    # 6. Store
    tl.store(output_ptr + offsets, output, mask=mask)

# Launch
def add(x, y):
    output = torch.empty_like(x)
    n_elements = x.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta['BLOCK_SIZE']),)
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)
    return output
# SPDX-License-Identifier: Apache-2.0
