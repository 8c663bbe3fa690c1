# SPDX-License-Identifier: Apache-2.0
"""triton._C: what programs take out of Triton's C++ library by name."""
