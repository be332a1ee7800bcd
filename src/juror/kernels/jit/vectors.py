"""Vectors of 4, 8 or 16 floats inside numba functions.

By itself the compiler handles sixteen classes at a time and the remainder one by one; with ten classes, all are
remainder. These operations make the vectors explicit: *width* consecutive floats of a one-dimensional array are read,
multiplied, added or written together, in the registers of the machine. There are no bounds checks.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from juror.kernels.jit.compiling import part


def for_widths(make):
    """Compile the functions ``make(8)`` and ``make(16)``.

    Each gets its own name: numba's cache on disk may confuse functions of the same name.
    """
    compiled = []
    for width in (8, 16):
        function = make(width)
        function.__name__ = function.__qualname__ = f"{function.__name__}_{width}"
        compiled.append(part(function))
    return compiled


class Vector(types.Type):
    """The numba type of a vector of ``width`` floats."""

    def __init__(self, width):
        self.width = width
        super().__init__(f"float64x{width}")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, ir.VectorType(ir.DoubleType(), vector.width))


def _place(context, builder, array_type, array, first, vector):
    """Return the address of element ``first`` as a pointer to a vector."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [first]), context.get_value_type(vector).as_pointer())


@intrinsic(prefer_literal=True)
def load(typing, array, first, width):
    """Return ``width`` floats of an array, beginning at ``first``."""
    vector = Vector(width.literal_value)

    def generate(context, builder, signature, arguments):
        floats = builder.load(_place(context, builder, array, *arguments[:2], vector))
        floats.align = 8
        return floats

    return vector(array, types.intp, width), generate


@intrinsic
def store(typing, array, first, floats):
    """Write floats into an array, beginning at ``first``."""

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


@intrinsic
def multiply_add(typing, a, b, c):
    """Return a · b + c, float by float, rounded once where the machine can."""

    def generate(context, builder, signature, arguments):
        once = ("contract",)
        return builder.fadd(builder.fmul(*arguments[:2], flags=once), arguments[2], flags=once)

    return a(a, a, a), generate


@intrinsic
def divide(typing, a, b):
    """Return a / b, float by float."""
    return a(a, a), lambda context, builder, signature, arguments: builder.fdiv(*arguments)


@intrinsic
def larger(typing, a, b):
    """Return the larger of a and b, float by float."""

    def generate(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return a(a, a), generate


@intrinsic(prefer_literal=True)
def spread(typing, number, width):
    """Return a vector with the same number in all ``width`` places."""
    vector = Vector(width.literal_value)

    def generate(context, builder, signature, arguments):
        nothing = ir.Constant(context.get_value_type(vector), ir.Undefined)
        first = builder.insert_element(nothing, arguments[0], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.width), [0] * vector.width)
        return builder.shuffle_vector(first, nothing, everywhere)

    return vector(types.float64, width), generate


def _cut(builder, floats):
    """Return the first and the second half of a vector."""
    width = floats.type.count // 2
    return [
        builder.shuffle_vector(
            floats,
            ir.Constant(floats.type, ir.Undefined),
            ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(first, first + width))),
        )
        for first in (0, width)
    ]


def _halves(builder, floats):
    """Return the sum of the first and the second half of a vector."""
    return builder.fadd(*_cut(builder, floats))


@intrinsic
def fold(typing, floats):
    """Add the halves of a vector until four sums are left."""

    def generate(context, builder, signature, arguments):
        folded = arguments[0]
        while folded.type.count > 4:
            folded = _halves(builder, folded)
        return folded

    return Vector(4)(floats), generate


@intrinsic
def total(typing, floats):
    """Add the halves of a vector until one sum is left."""

    def generate(context, builder, signature, arguments):
        folded = arguments[0]
        while folded.type.count > 1:
            folded = _halves(builder, folded)
        return builder.extract_element(folded, ir.Constant(ir.IntType(32), 0))

    return types.float64(floats), generate


def _extreme(order):
    """Return an intrinsic that finds the first float of a vector in an order, ``<`` or ``>``."""

    def extreme(typing, floats):
        def generate(context, builder, signature, arguments):
            folded = arguments[0]
            while folded.type.count > 1:
                low, high = _cut(builder, folded)
                folded = builder.select(builder.fcmp_ordered(order, low, high), low, high)
            return builder.extract_element(folded, ir.Constant(ir.IntType(32), 0))

        return types.float64(floats), generate

    return intrinsic(extreme)


least, most = _extreme("<"), _extreme(">")
