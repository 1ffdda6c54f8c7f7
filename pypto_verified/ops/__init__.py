"""PyPTO's op registry: one declaration an op, with operands, keywords, type rule, memory spaces and aliasing.

`registry.lookup(name)` gives a declaration, `build.make_call(name, args, kwargs, span)` a typed call.

Tile types follow one convention, kept by `layout.make_tile`: `view` is None exactly when the tile has the implicit
layout of its (shape, space), is fully valid, unpadded and not compact; otherwise the view is complete and `valid_shape`
is () when full. `space` is fixed by the rule where the op dictates it (Vec for vector ops, Acc for products) or by the
keyword target_memory (load and create default to Vec); a view has its source's. A pass that changes operands builds the
call anew, which deduces the layout that follows; `layout.effective_view` writes the whole view out.

Rules refuse what is provably wrong; what depends on run-time values is left to the verifier.
"""
