// SPDX-License-Identifier: Apache-2.0
//! A kernel that was built ahead of time, called from Rust.
use std::ffi::{c_char, c_void, CStr};

extern "C" {
    // As add.h declares it; the options are NULL here.
    fn add_kernel(
        x: *const f32, x_count: usize, y: *const f32, y_count: usize, output: *mut f32, output_count: usize,
        n_elements: i32, grid_x: i64, grid_y: i64, grid_z: i64, options: *const c_void,
    ) -> i32;
    fn add_kernel_error(result: i32) -> *const c_char;
}

/// x + y, element by element.
fn add(x: &[f32], y: &[f32]) -> Result<Vec<f32>, String> {
    let n = x.len().min(y.len());
    let mut output = vec![0.0; n];
    let size = i32::try_from(n).map_err(|error| error.to_string())?;
    let blocks = n.div_ceil(1024) as i64;
    // The function tests the counts, and the kernel touches its first n elements alone.
    let result = unsafe {
        add_kernel(x.as_ptr(), n, y.as_ptr(), n, output.as_mut_ptr(), n, size, blocks, 1, 1, std::ptr::null())
    };
    match result {
        0 => Ok(output),
        _ => Err(unsafe { CStr::from_ptr(add_kernel_error(result)) }.to_string_lossy().into_owned()),
    }
}

fn main() {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let y: Vec<f32> = (1..1001).map(|i| i as f32).collect();
    match add(&x, &y) {
        Ok(z) => println!("999 + 1000 = {}", z[999]),
        Err(text) => panic!("{text}"),
    }
}
