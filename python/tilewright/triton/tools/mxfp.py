# SPDX-License-Identifier: Apache-2.0
"""triton.tools.mxfp: tensors of torch in the block-scaled formats that tl.dot_scaled takes: numbers of four bits (e2m1) and scales that
are powers of two (e8m0). For tests and for preparing weights; nothing here is fast."""

try:
    import torch
except ImportError:
    torch = None

_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # of e2m1, by its lower three bits


class _Tensor:
    """`data`: the patterns, one a byte; made from float32, or of a size for random()."""

    def __init__(self, data=None, size=None, device=None):
        if torch is None:
            raise ImportError(f"{type(self).__name__} holds tensors of torch, which is not installed")
        if data is None and size is None:
            raise ValueError("Either parameter data or size must be provided")
        self.device = device if data is None else data.device
        if data is not None:
            assert isinstance(data, torch.Tensor), "Parameter data must be a torch tensor"
            self.data = self._from_float(data)
        else:
            self.size = size if isinstance(size, tuple) else (size, )

    def _random(self, low, high):
        self.data = torch.randint(low, high + 1, size=self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype):
        """The numbers, as float32."""
        assert dtype == torch.float32, "Currently only float32 is supported"
        return self._to_float()


class MXFP4Tensor(_Tensor):
    """Numbers of four bits."""

    def random(self):
        return self._random(0, 15)

    def _to_float(self):
        table = torch.tensor([*_MAGNITUDES, *(-x for x in _MAGNITUDES)], dtype=torch.float32, device=self.data.device)
        return table[self.data.long()]

    @staticmethod
    def _from_float(values):
        """To nearest, ties to even; what lies beyond 6, infinities and NaN become 6."""
        values = values.float()
        sizes = torch.nan_to_num(values.abs(), nan=6.0).clamp(max=6.0)
        middles = torch.tensor([(a + b) / 2 for a, b in zip(_MAGNITUDES, _MAGNITUDES[1:])], device=values.device)
        below, above = (torch.bucketize(sizes, middles, right=right) for right in (False, True))
        nearest = torch.where(below % 2 == 0, below, above)  # they differ on a tie alone
        return (nearest | (torch.signbit(values).long() << 3)).to(torch.uint8)

    def to_packed_tensor(self, dim):
        """Two a byte along an axis, the first one in the lower half; an odd extent is filled up with a zero."""
        assert 0 <= dim < self.data.ndim, "The dimension to pack along is not within the range of tensor dimensions"
        rows = self.data.movedim(dim, -1)
        if rows.shape[-1] % 2:
            rows = torch.nn.functional.pad(rows, (0, 1))
        return (rows[..., 0::2] | rows[..., 1::2] << 4).movedim(-1, dim).contiguous()

    def unpack_packed_tensor(self, packed_tensor, dim, original_shape):
        """What to_packed_tensor was given."""
        rows = packed_tensor.movedim(dim, -1)
        pairs = torch.stack((rows & 15, rows >> 4), dim=-1).flatten(-2)
        return pairs[..., :original_shape[dim]].movedim(-1, dim).contiguous()


class MXScaleTensor(_Tensor):
    """Powers of two as exponents: the byte b is 2^(b - 127), 255 a NaN."""

    def random(self, low=None, high=None):
        """Between the two, which are powers of two; never a NaN."""
        ends = [end if value is None else int(torch.log2(torch.tensor(float(value)))) + 127 for value, end in ((low, 0), (high, 254))]
        first, last = max(0, ends[0]), min(254, max(0, ends[1]))
        assert first <= last, "Low must be less than or equal to high"
        return self._random(first, last)

    def _to_float(self):
        value = torch.exp2(self.data.double() - 127).float()
        return torch.where(self.data == 255, torch.full_like(value, float("nan")), value)

    @staticmethod
    def _from_float(values):
        """The power of two at or below; 255 for what is not positive and finite."""
        exponent = torch.frexp(values.double()).exponent + 126
        return torch.where((values > 0) & torch.isfinite(values), exponent.clamp(0, 254), 255).to(torch.uint8)
