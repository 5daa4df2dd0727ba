//! Builders of `nn`: operations on tensors, as neural networks have them.
//!
//! Written from the rows: `OPTC_BLESS=1 cargo test -p optc-tests --test it reference`.

pub use super::nn_elementwise::*;

super::builders! {
    /// Two-dimensional convolution: sums over a window and the channels of a group, plus a bias per channel.
    /// The filter's axes are output channel, input channel of the group, row, column, whatever `layout` says.
    "nn.conv2d" conv2d(input: value, filter: value) -> Conv2d {
        /// The optional operand: a tensor of floats.
        bias: operand,
        /// Distance between neighbouring windows: rows, columns. (default \[1, 1\])
        strides: ints,
        /// Padding above, left, below, right. (default \[0, 0, 0, 0\])
        pads: ints,
        /// Distance between neighbouring elements of a window: rows, columns. (default \[1, 1\])
        dilations: ints,
        /// Into how many groups the channels fall. (default 1)
        groups: int,
        /// Which axes of input and result are batch, channels, height and width. (default NCHW)
        layout: text,
    };

    /// The product of matrices in the last two axes, plus a bias per column; other axes broadcast. An operand
    /// of one axis is a row (left) or a column (right).
    "nn.matmul" matmul(a: value, b: value) -> Matmul {
        /// The optional operand: a tensor.
        bias: operand,
        /// If there, `a`'s last two axes are swapped.
        transpose_a: flag,
        /// If there, `b`'s last two axes are swapped.
        transpose_b: flag,
    };

    /// The product of matrices of 8-bit integers less their zero points, as 32-bit integers; other axes
    /// broadcast. `a` has one zero point, `b` one or one per column.
    "nn.quantized_matmul" quantized_matmul(
        a: value, b: value, a_zero: value, b_zero: value
    ) -> QuantizedMatmul {
        /// If there, `b`'s last two axes are swapped.
        transpose_b: flag,
    };

    /// Two-dimensional convolution of 8-bit integers less their zero points, as 32-bit integers; nothing is
    /// added for the padding. The input has one zero point, the filter one or one per output channel.
    "nn.quantized_conv2d" quantized_conv2d(
        input: value, filter: value, input_zero: value, filter_zero: value
    ) -> QuantizedConv2d {
        /// Distance between neighbouring windows: rows, columns. (default \[1, 1\])
        strides: ints,
        /// Padding above, left, below, right. (default \[0, 0, 0, 0\])
        pads: ints,
        /// Distance between neighbouring elements of a window: rows, columns. (default \[1, 1\])
        dilations: ints,
        /// Into how many groups the channels fall. (default 1)
        groups: int,
        /// Which axes of input and result are batch, channels, height and width. (default NCHW)
        layout: text,
    };

    /// The largest element of each window; padding never is, and NaN is if there is one. A window wholly in
    /// padding has the least number of its type.
    ///
    /// `kernel`: Rows and columns of a window.
    "nn.max_pool2d" max_pool2d(input: value, kernel: ints) -> MaxPool2d {
        /// Distance between neighbouring windows: rows, columns. (default \[1, 1\])
        strides: ints,
        /// Padding above, left, below, right. (default \[0, 0, 0, 0\])
        pads: ints,
        /// Distance between neighbouring elements of a window: rows, columns. (default \[1, 1\])
        dilations: ints,
        /// If there, a window that begins inside the image or its left padding counts even if it does not
        /// fit.
        ceil: flag,
        /// Which axes of input and result are batch, channels, height and width. (default NCHW)
        layout: text,
    };

    /// The mean of each window.
    ///
    /// `kernel`: Rows and columns of a window.
    "nn.avg_pool2d" avg_pool2d(input: value, kernel: ints) -> AvgPool2d {
        /// Distance between neighbouring windows: rows, columns. (default \[1, 1\])
        strides: ints,
        /// Padding above, left, below, right. (default \[0, 0, 0, 0\])
        pads: ints,
        /// If there, a window that begins inside the image or its left padding counts even if it does not
        /// fit.
        ceil: flag,
        /// If there, padding counts as zeros (but not what `ceil` adds); else the mean is over the image
        /// only.
        count_include_pad: flag,
        /// Which axes of input and result are batch, channels, height and width. (default NCHW)
        layout: text,
    };

    /// The operand's elements, in row-major order, in another shape.
    ///
    /// `shape`: The sizes; at most one is -1 and follows.
    "nn.reshape" reshape(x: value, shape: ints);

    /// The operand's bits as elements of another type of the same width.
    ///
    /// `to`: Element type of the result.
    "nn.bitcast" bitcast(x: value, to: ty);

    /// The operand with its axes reordered: axis i of the result is axis `permutation[i]` of the operand.
    ///
    /// `permutation`: Each axis of the operand once.
    "nn.transpose" transpose(x: value, permutation: ints);

    /// A window of the operand.
    ///
    /// `starts`: First index along each axis.
    /// `sizes`: Elements along each axis.
    "nn.slice" slice(x: value, starts: ints, sizes: ints) -> Slice {
        /// Distance, possibly negative, of neighbours along each axis; absent: 1.
        strides: ints,
    };

    /// The second operand with a window of it replaced by the first.
    ///
    /// `starts`: First index along each axis.
    "nn.insert_slice" insert_slice(source: value, dest: value, starts: ints) -> InsertSlice {
        /// Distance, possibly negative, of neighbours along each axis; absent: 1.
        strides: ints,
    };

    /// The operand stretched to a shape, as in numpy.
    ///
    /// `shape`: The sizes.
    "nn.broadcast" broadcast(x: value, shape: ints);

    /// The operands one after the other along an axis.
    ///
    /// `axis`: The axis, from 0.
    "nn.concat" concat(parts: values, axis: int);

    /// The sum over `axes`.
    ///
    /// `axes`: Which axes are folded, each from 0.
    "nn.reduce_sum" reduce_sum(x: value, axes: ints) -> ReduceSum {
        /// If there, folded axes stay, with size 1.
        keepdims: flag,
    };

    /// The mean over `axes`.
    ///
    /// `axes`: Which axes are folded, each from 0.
    "nn.reduce_mean" reduce_mean(x: value, axes: ints) -> ReduceMean {
        /// If there, folded axes stay, with size 1.
        keepdims: flag,
    };

    /// The product over `axes`.
    ///
    /// `axes`: Which axes are folded, each from 0.
    "nn.reduce_prod" reduce_prod(x: value, axes: ints) -> ReduceProd {
        /// If there, folded axes stay, with size 1.
        keepdims: flag,
    };

    /// The largest element over `axes`; NaN if one is.
    ///
    /// `axes`: Which axes are folded, each from 0.
    "nn.reduce_max" reduce_max(x: value, axes: ints) -> ReduceMax {
        /// If there, folded axes stay, with size 1.
        keepdims: flag,
    };

    /// The smallest element over `axes`; NaN if one is.
    ///
    /// `axes`: Which axes are folded, each from 0.
    "nn.reduce_min" reduce_min(x: value, axes: ints) -> ReduceMin {
        /// If there, folded axes stay, with size 1.
        keepdims: flag,
    };

    /// The sum of squares over `axes`.
    ///
    /// `axes`: Which axes are folded, each from 0.
    "nn.reduce_sum_square" reduce_sum_square(x: value, axes: ints) -> ReduceSumSquare {
        /// If there, folded axes stay, with size 1.
        keepdims: flag,
    };

    /// The index along an axis of the largest element: 0, until another element compares as larger (a NaN
    /// never does).
    ///
    /// `axis`: The axis, from 0.
    "nn.arg_max" arg_max(x: value, axis: int) -> ArgMax {
        /// If there, the axis stays, with size 1.
        keepdims: flag,
        /// If there, the last of equal elements counts.
        last: flag,
    };

    /// The index along an axis of the smallest element: 0, until another element compares as smaller (a NaN
    /// never does).
    ///
    /// `axis`: The axis, from 0.
    "nn.arg_min" arg_min(x: value, axis: int) -> ArgMin {
        /// If there, the axis stays, with size 1.
        keepdims: flag,
        /// If there, the last of equal elements counts.
        last: flag,
    };

    /// The sums of the elements along an axis up to each.
    ///
    /// `axis`: The axis, from 0.
    "nn.cum_sum" cum_sum(x: value, axis: int) -> CumSum {
        /// If there, an element is no part of its result.
        exclusive: flag,
        /// If there, the last element comes first.
        reverse: flag,
    };

    /// The products of the elements along an axis up to each.
    ///
    /// `axis`: The axis, from 0.
    "nn.cum_prod" cum_prod(x: value, axis: int) -> CumProd {
        /// If there, an element is no part of its result.
        exclusive: flag,
        /// If there, the last element comes first.
        reverse: flag,
    };

    /// A tensor of integers that are sizes, known when the program is run on inputs of some sizes.
    ///
    /// `value`: The sizes.
    "nn.sizes" sizes(value: ints);

    /// The integers from 0 on, as many as a size that is known when the program is run says.
    ///
    /// `size`: How many.
    "nn.iota" iota(size: ints);

    /// (x - mean) / sqrt(variance + `epsilon`) * scale + bias, for each channel.
    "nn.batch_norm" batch_norm(
        x: value, scale: value, bias: value, mean: value, variance: value
    ) -> BatchNorm {
        /// Added to the variance. (default 0.00001)
        epsilon: float,
        /// The channel axis. (default 1)
        axis: int,
    };

    /// (x - mean) / sqrt(variance + `epsilon`) * scale + bias, with a scale and a bias for each channel, and
    /// the mean and variance over `axes` and the channels of each of `groups` groups of consecutive ones; 0
    /// for a group for each channel. Without other axes and in one group, it is a layer norm, and about zero
    /// an RMS norm.
    ///
    /// `axes`: The axes that go into the mean, besides.
    /// `groups`: How many groups the channels are divided into.
    "nn.group_norm" group_norm(x: value, scale: value, bias: value, axes: ints, groups: int) -> GroupNorm {
        /// Added to the variance. (default 0.00001)
        epsilon: float,
        /// The channel axis. (default 1)
        axis: int,
        /// If there, no mean is subtracted, and the variance is about 0.
        about_zero: flag,
    };

    /// e^x over the sum of e^x along an axis; the largest element is subtracted first.
    ///
    /// `axis`: The axis, from 0.
    "nn.softmax" softmax(x: value, axis: int);

    /// The operand with more elements, equal to `value`, around it.
    ///
    /// `low`: How many before the first element of each axis.
    /// `high`: How many after the last element of each axis.
    "nn.pad" pad(x: value, low: ints, high: ints) -> Pad {
        /// What they are. (default 0)
        value: float,
    };

    /// The operand with each element repeated `counts` times along each axis.
    ///
    /// `counts`: How often, for each axis.
    "nn.repeat" repeat(x: value, counts: ints);

    /// Slices of x along an axis, picked by index; a negative index counts from the end.
    "nn.gather" gather(x: value, indices: value) -> Gather {
        /// The axis, from 0. (default 0)
        axis: int,
    };

    /// For each byte of x the element of a table of 256 that its bits, as a number without a sign, count from
    /// 0.
    "nn.lookup" lookup(x: value, table: value);

    /// Weighted sums of elements along an axis: element j of the result is the sum over t of weights\[t, j\]
    /// times element places\[t, j\] of x, in this order; each product after the first is added without being
    /// rounded. A place outside of the axis stands for the nearest one inside; sums of elements of an empty
    /// axis are 0.
    "nn.resample" resample(x: value, places: value, weights: value) -> Resample {
        /// The axis, from 0. (default 0)
        axis: int,
    };

    /// The slices of x along an axis whose condition holds, one after the other, and then zeros in the place
    /// of the others that have a condition; and how many there are.
    "nn.compress" compress(x: value, condition: value) -> Compress {
        /// The axis, from 0. (default 0)
        axis: int,
    };

    /// For each image and class the numbers of at most `most` boxes, those of higher scores first, of equal
    /// ones in their order: of boxes whose score is above `least` and not NaN, without those whose
    /// intersection with one that is picked is more than `overlap` of their union. A `least` of NaN is below
    /// all scores. Beside each place whether a box is picked for it; 0 where none is.
    ///
    /// `places`: For how many boxes of each image and class there are places; no more are picked.
    "nn.non_max_suppression" non_max_suppression(
        boxes: value, scores: value, most: value, overlap: value, least: value, places: ints
    );

    /// Each box divided into bins, and for each bin the mean, or the largest, of samples of one of the
    /// images, which are channels last. A box is its least corner and its size, x before y, in elements of
    /// the image. A sample is read from the four elements around it, and is 0 if it is more than an element
    /// outside. The run stops for the number of an image that does not exist, and for more than 2^20 samples
    /// along an axis of a bin.
    ///
    /// `bins`: The rows and columns of bins.
    "nn.roi_align" roi_align(x: value, boxes: value, images: value, bins: ints) -> RoiAlign {
        /// Samples along each axis of a bin; at 0 the length of the bin, rounded up. (default 0)
        samples: int,
        /// What is made of the samples; the largest is that of what the four elements add. (default mean)
        mode: text,
    };

    /// x with slices along its first axis, numbered by the indices, joined with updates, one after the other;
    /// a negative index counts from the end.
    "nn.scatter" scatter(x: value, indices: value, updates: value) -> Scatter {
        /// What becomes of the old and the new element: the new one, or their sum, product, maximum or
        /// minimum. (default none)
        join: text,
    };

    /// The indices of the elements along an axis in the order of the elements: equal ones as they stand, NaN
    /// as the largest.
    ///
    /// `axis`: The axis, from 0.
    "nn.arg_sort" arg_sort(x: value, axis: int) -> ArgSort {
        /// If there, the largest element comes first.
        descending: flag,
    };

    /// The elements of x, which has several in a byte, one to a byte: a signed integer with copies of its
    /// highest bit above it, others with zeros.
    "nn.unpack" unpack(x: value);

    /// The low bits of the bytes of x as elements of less than a byte, several in a byte, the first in the
    /// low bits.
    ///
    /// `to`: The type of the result's elements.
    "nn.pack" pack(x: value, to: ty);

    /// The element of a tensor without axes, as a number.
    "nn.to_scalar" to_scalar(x: value);

    /// A number as a tensor without axes.
    "nn.from_scalar" from_scalar(number: value);
}
