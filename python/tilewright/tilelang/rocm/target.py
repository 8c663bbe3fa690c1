# SPDX-License-Identifier: Apache-2.0
"""tilelang.rocm.target: no GPU of AMD's runs kernels of TileLang here."""
from ..utils.target import check_hip_availability

__all__ = ["check_hip_availability"]
