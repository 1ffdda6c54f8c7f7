"""Row softmax: subtract the row maximum, exponentiate, divide by the row sum."""
import pypto.language as pl

ROWS, COLS = 32, 128


@pl.program
class Softmax:
    @pl.function(type=pl.FunctionType.InCore)
    def softmax(
        self,
        x: pl.Tensor[[ROWS, COLS], pl.FP32],
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        t = pl.load(x, [0, 0], [ROWS, COLS])
        scratch: pl.Tile[[ROWS, COLS], pl.FP32] = pl.tile.create([ROWS, COLS], dtype=pl.FP32)
        peak = pl.row_max(t, scratch)
        e = pl.exp(pl.row_expand_sub(t, peak))
        total = pl.row_sum(e, scratch)
        return pl.store(pl.row_expand_div(e, total), [0, 0], out)
