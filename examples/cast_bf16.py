"""Cast FP32 weights to BF16, rounding to nearest even."""
import pypto.language as pl

ROWS, COLS, STEP = 256, 128, 64


@pl.program
class CastBf16:
    @pl.function(type=pl.FunctionType.InCore)
    def cast_bf16(
        self,
        w: pl.Tensor[[ROWS, COLS], pl.FP32],
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.BF16]],
    ) -> pl.Tensor[[ROWS, COLS], pl.BF16]:
        for row in pl.range(0, ROWS, STEP):
            t = pl.load(w, [row, 0], [STEP, COLS])
            out = pl.store(pl.cast(t, target_type=pl.BF16, mode="rint"), [row, 0], out)
        return out
