// Passes on graphs of torch functions, before autograd, in the order in which they run (manager/pass_table.cpp).
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Module inlining: calls of nested graphs become their nodes; modules that are known by their repr alone stay calls.
///
///     y = self.block(x, 2)          block: return a * b      →      y = x * 2
///
/// Graphs that higher-order ops run stay what they are. Off where one graph is called from many places and would grow:
/// `max_nodes`.
Pass inlineModulePass();

/// Call normalisation: one spelling and one form of the arguments for every function that Dynamo writes in several ways.
///
///     y = x.permute(0, 2, 1); z = torch._C._nn.linear(y, weight = w)
///       →      y = torch.permute(x, [0, 2, 1]); z = torch.nn.functional.linear(y, w)
///
/// By PyTorch's Python signatures: arguments by position, defaults left out at the end, `inplace` by name. Names of
/// nodes stay.
Pass normalizationPass();

/// Identity removal: layers and calls of a Dynamo graph that give their input are skipped.
///
///     d = torch.nn.functional.dropout(x, 0.1, False); i = self.identity(d); y = i.contiguous(); r = torch.relu(y)
///       →      r = torch.relu(x)
///
/// Dropout outside of training or with p = 0, nn.Identity, contiguous() of what is, to() of what it has; marks for
/// PyTorch's usage log. Nothing that reads or aliases mutated memory goes, and no output becomes an input.
Pass removeIdentityPass();

/// Batch norm folding: a batch norm of inference after a convolution or a linear layer goes into that layer's weights.
///
///     c = torch.conv2d(x, w, b); y = torch.nn.functional.batch_norm(c, mean, var, g, h)
///       →      y = torch.conv2d(x, w', b')          w' = w * s, b' = (b - mean) * s + h, s = g / sqrt(var + eps)
///
/// Only where the batch norm alone reads the layer, nothing is written between them, and all parameters are attributes
/// of the module that nothing writes, of float32 or float64. `inputs`: also where they are inputs of the graph, which
/// then computes the new ones in each run. torch.nn.utils.fusion has the formulas.
Pass fuseConvBnPass();

/// Split merging: a piece that is split again, along the same dimension, is split at once; a split into one piece is
/// none.
///
///     a, b = torch.split(x, [4, 2]); c, d = torch.split(a, 2)      →      c, d, b = torch.split(x, [2, 2, 2])
///
/// split and chunk of fixed sizes whose pieces are taken by getitem (torch._inductor's merge_splits and
/// remove_split_with_size_one), where nothing writes.
Pass mergeSplitsPass();

/// Split and cat of torch functions: what is split and put together again is the whole, what is put together and split
/// again its parts, and a cat of a cat one cat.
///
///     a, b = torch.split(x, 2, 1); c = torch.cat([a, b], 1); d = torch.cat([c, y], 1)
///       →      d = torch.cat([x, y], 1)
///
/// split and chunk alike. Nothing that reads or aliases mutated memory goes, and no output becomes an input.
Pass splitCatPass();

/// Stack and unbind of torch functions: what is taken apart and stacked again is the whole, what is stacked and taken
/// apart again its parts, and slices put together are the tensor with two dimensions as one.
///
///     a, b = torch.unbind(x); s = torch.stack([a, b])      →      s = x
///     a, b = torch.unbind(x); c = torch.cat([a, b])        →      c = torch.flatten(x, 0, 1)
///
/// Nothing that reads or aliases mutated memory goes, and no output becomes an input or a view of one.
Pass unbindStackPass();

/// Linear and permute: a linear layer whose result is transposed is a product of the transposed operands.
///
///     y = torch.permute(torch.nn.functional.linear(x, w, b), [0, 2, 1]).contiguous()
///       →      y = (torch.matmul(w, torch.transpose(x, -1, -2)) + torch.unsqueeze(b, -1)).contiguous()
///
/// Only of the last two dimensions, and where the result is read by what does not tell strides apart: it lies in memory
/// as it is read, so that the copy costs nothing (torch._inductor's linear_permute_fusion).
Pass linearPermuteFusionPass();

/// Matmul and permute: a product whose result is transposed is the product of the transposed factors, in reverse.
///
///     y = torch.transpose(torch.matmul(a, b), 1, 2).contiguous()
///       →      y = torch.matmul(torch.transpose(b, -2, -1), torch.transpose(a, -2, -1)).contiguous()
///
/// Only of the last two dimensions of factors that are matrices or batches of them, and where the result is read by
/// what does not tell strides apart.
Pass matmulPermuteFusionPass();

/// Parallel linear layers: those that read the same value are one layer with all their rows.
///
///     q = linear(x, wq, bq); k = linear(x, wk, bk)
///       →      l = linear(x, cat([wq, wk]), cat([bq, bk])); a, b = split(l, [8, 8], -1); q = clone(a); k = clone(b)
///
/// Off by default: weights are put together in each run. Weights must be there before the first of the layers; all have
/// a bias or none has one.
Pass fuseParallelLinearPass();

/// Shape propagation: nodes that passes or a user's edit have written get the shape, dtype and strides of their values,
/// as torch.fx's ShapeProp gives them, without data.
///
///     y: ? = torch.matmul(a, b)      →      y: "f32[4, 8]" = torch.matmul(a, b)
///
/// Does nothing where every value is known already, or an input's shape is not. What cannot be inferred stays as it is.
Pass shapePropPass();

}  // namespace kerf::inline passes
