// SPDX-License-Identifier: Apache-2.0
//! Builds the kernel with `tilewright build` and links it in.
use std::{env, path::Path, process::Command};

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let kernel = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../kernels/triton/add.py");
    let tilewright = env::var("TILEWRIGHT").unwrap_or_else(|_| "tilewright".into());
    let arguments = ["x_ptr=*f32", "y_ptr=*f32", "output_ptr=*f32", "n_elements=i32"];
    let mut build = Command::new(tilewright);
    build.arg("build").arg(&kernel).args(["-D", "BLOCK_SIZE=1024", "-o"]).arg(format!("{out}/add"));
    arguments.iter().for_each(|argument| {
        build.args(["--arg", argument]);
    });
    run(&mut build);
    run(Command::new("ar").args(["crs", "libadd.a", "add.o"]).current_dir(&out));
    println!("cargo:rerun-if-changed={}", kernel.display());
    println!("cargo:rerun-if-env-changed=TILEWRIGHT");
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=add");
    println!("cargo:rustc-link-lib=m");
}
