# ruff: noqa: E501 - lines of `.pto` texts are as long as they are
"""Small modules, written by hand, that together use every kind of syntax of the reader."""

from __future__ import annotations

LOAD_ADD_STORE = """
// a comment
module attributes {pto.target_arch = "a2a3"} {
  func.func @add(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %half = arith.constant 5.0e-01 : f32
    %rows = arith.index_cast %n : i32 to index loc("k.py":3:5)
    %v = pto.make_tensor_view %a, shape = [%rows, %c64], strides = [%c64, %c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
    %w = pto.make_tensor_view %b, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %t = pto.alloc_tile addr = %a0 valid_row = %c8 valid_col = %c64 : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=64, v_row=?, v_col=?, blayout=row_major, slayout=none_box, fractal=512, pad=0> loc("k.py":4:5)
    scf.for %i = %c0 to %rows step %c8 {
      %p = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x64xf32>
      pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32, valid=?x?>)
      pto.tmuls ins(%t, %half : !pto.tile_buf<vec, 8x64xf32, valid=?x?>, f32) outs(%t : !pto.tile_buf<vec, 8x64xf32, valid=?x?>)
      pto.tcvt ins(%t {rmode = #pto<round_mode RINT>} : !pto.tile_buf<vec, 8x64xf32, valid=?x?>) outs(%t : !pto.tile_buf<vec, 8x64xf32, valid=?x?>)
      %q = pto.partition_view %w, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x64xf32>
      pto.tstore ins(%t : !pto.tile_buf<vec, 8x64xf32, valid=?x?>) outs(%q : !pto.partition_tensor_view<8x64xf32>) {atomicType = #pto<atomic_type atomic_add>}
    } loc("k.py":5:9)
    return
  }
}
"""

CONTROL = """
module {
  func.func private @helper(index, i64) -> index
  func.func @main(%n: index, %flag: i1) -> i64 attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0 : i64
    %yes = arith.constant true
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %k = %c0) -> (i64, index) {
      %j = arith.index_cast %i : index to i64
      %t = arith.addi %s, %j overflow<nsw> : i64
      %l = arith.maxsi %k, %i : index
      scf.yield %t, %l : i64, index
    }
    %r = scf.if %flag -> (i64) {
      scf.yield %sum#0 : i64
    } else {
      %small = arith.cmpi slt, %sum#1, %n : index
      %p = arith.select %small, %z, %sum#0 : i64
      scf.yield %p : i64
    }
    %w = scf.while (%x = %r) : (i64) -> (i64) {
      %go = arith.cmpi sgt, %x, %z : i64
      scf.condition(%go) %x : i64
    } do {
    ^bb0(%y: i64):
      %d = arith.shrui %y, %r : i64
      scf.yield %d : i64
    }
    %m = func.call @helper(%n, %w) : (index, i64) -> index
    return %w : i64
  }
}
"""

PIPES = """
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %z = arith.constant 0 : i32
    %b = pto.import_reserved_buffer {name = "ring", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024, slot_num = 2}
      (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %b : i32, v2c_consumer_buf = %z : i32)
    %t = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
    pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 0, split = 1}
    pto.barrier <PIPE_ALL>
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c8 = arith.constant 8 : index
    %z = arith.constant 0 : i32
    %b = pto.reserve_buffer {name = "ring", size = 2048, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024, slot_num = 2} (c2v_consumer_buf = %b : i32)
    %t = pto.tpop_from_aic(%c8, %c8) {id = 0, split = 1} -> !pto.tile_buf<vec, 8x16xf32, valid=?x?>
    %s = pto.subview %t[%c8, %c8] sizes [4, 8] valid [%c8, %c8] : !pto.tile_buf<vec, 8x16xf32, valid=?x?>
    %m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 8x16xf32, count=2>
    %u = pto.multi_tile_get %m[%c8] : !pto.multi_tile_buf<!pto.tile_buf<vec, 8x16xf32>, count=2> -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {id = 0, split = 1}
    pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
    return
  }
}
"""

SECTIONS = """
func.func @mixed(%t: !pto.tile_buf<vec, 8x16xf32>, %i: index) {
  pto.section.vector {
    %x = pto.tgetval ins(%t, %i : !pto.tile_buf<vec, 8x16xf32>, index) outs : f32
    pto.tsetval ins(%i, %x : index, f32) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
  }
  pto.section.cube {
    "pto.tadd"(%t, %t, %t) : (!pto.tile_buf<vec, 8x16xf32>, !pto.tile_buf<vec, 8x16xf32>, !pto.tile_buf<vec, 8x16xf32>) -> ()
  }
  func.return
}
"""

SAMPLES = (LOAD_ADD_STORE, CONTROL, PIPES, SECTIONS)
