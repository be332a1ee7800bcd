"""Vectors of 4, 8 or 16 floats inside numba functions.

Left to itself the compiler handles the classes of a row sixteen at a time and what is left over, which for ten classes
is all of them, one by one. These few operations say what is meant: *width* floats from a place in a one-dimensional
array on are read, multiplied, added up or written together, in whatever registers the machine has. Nothing checks
that they lie inside the array.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from juror.kernels.jit.compiling import kernel


def for_widths(make):
    """Compile what ``make(W)`` returns, for vectors of 8 and of 16.

    Each gets a name of its own: numba's cache on disk may take functions of one name for each other.
    """
    compiled = []
    for width in (8, 16):
        function = make(width)
        function.__name__ = function.__qualname__ = f"{function.__name__}_{width}"
        compiled.append(kernel(function))
    return compiled


class Vector(types.Type):
    """The numba type of so many floats."""

    def __init__(self, width):
        self.width = width
        super().__init__(f"float64x{width}")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, ir.VectorType(ir.DoubleType(), vector.width))


def _place(context, builder, array_type, array, first, vector):
    """The address of the floats from ``first`` on, as that of a vector."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [first]), context.get_value_type(vector).as_pointer())


@intrinsic(prefer_literal=True)
def load(typing, array, first, width):
    """Return ``width`` floats of an array from ``first`` on."""
    vector = Vector(width.literal_value)

    def generate(context, builder, signature, arguments):
        floats = builder.load(_place(context, builder, array, *arguments[:2], vector))
        floats.align = 8
        return floats

    return vector(array, types.intp, width), generate


@intrinsic
def store(typing, array, first, floats):
    """Write floats into an array from ``first`` on."""

    def generate(context, builder, signature, arguments):
        written = builder.store(arguments[2], _place(context, builder, array, *arguments[:2], floats))
        written.align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, floats), generate


@intrinsic
def multiply(typing, a, b):
    """Return a · b, float by float."""
    return a(a, a), lambda context, builder, signature, arguments: builder.fmul(*arguments)


@intrinsic
def add(typing, a, b):
    """Return a + b, float by float."""
    return a(a, a), lambda context, builder, signature, arguments: builder.fadd(*arguments)


@intrinsic(prefer_literal=True)
def spread(typing, number, width):
    """Return ``width`` times the same number."""
    vector = Vector(width.literal_value)

    def generate(context, builder, signature, arguments):
        nothing = ir.Constant(context.get_value_type(vector), ir.Undefined)
        first = builder.insert_element(nothing, arguments[0], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.width), [0] * vector.width)
        return builder.shuffle_vector(first, nothing, everywhere)

    return vector(types.float64, width), generate


def _halves(builder, floats):
    """The sum of the first and the second half of a vector."""
    width = floats.type.count // 2
    low, high = (
        builder.shuffle_vector(
            floats,
            ir.Constant(floats.type, ir.Undefined),
            ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(first, first + width))),
        )
        for first in (0, width)
    )
    return builder.fadd(low, high)


@intrinsic
def fold(typing, floats):
    """Return four sums of floats, each half added to the other until four are left."""

    def generate(context, builder, signature, arguments):
        folded = arguments[0]
        while folded.type.count > 4:
            folded = _halves(builder, folded)
        return folded

    return Vector(4)(floats), generate


@intrinsic
def total(typing, floats):
    """Return the sum of the floats, each half added to the other until one is left."""

    def generate(context, builder, signature, arguments):
        folded = arguments[0]
        while folded.type.count > 1:
            folded = _halves(builder, folded)
        return builder.extract_element(folded, ir.Constant(ir.IntType(32), 0))

    return types.float64(floats), generate
