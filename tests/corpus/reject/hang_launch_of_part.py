# EVENT-LAUNCH
# after pypto@7dd39b49a
# A barrier of all cores of the chip, of which it has 24 cubes with two vector cores each.
import pypto.language as pl


@pl.program
class Exchange:
    @pl.function(type=pl.FunctionType.InCore)
    def exchange(
        self, a: pl.Tensor[[48 * 16, 64], pl.FP32], out: pl.Out[pl.Tensor[[48 * 16, 64], pl.FP32]]
    ) -> pl.Tensor[[48 * 16, 64], pl.FP32]:
        row = pl.tile.get_block_idx() * 16
        t = pl.load(a, [row, 0], [16, 64])
        pl.system.syncall(core_type="aiv_only")  # <- here
        out = pl.store(t, [row, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, a: pl.Tensor[[48 * 16, 64], pl.FP32], out: pl.Out[pl.Tensor[[48 * 16, 64], pl.FP32]]
    ) -> pl.Tensor[[48 * 16, 64], pl.FP32]:
        with pl.spmd(40, sync_start=True):
            out = self.exchange(a, out)
        return out
