// Gradients of views, moves, and reading and writing at places that a tensor gives.
#include "ops_gradient_samples.h"

namespace kerf {
namespace {

using namespace testing;

const Value x = signedTensor({3, 4}, 1), cube = signedTensor({2, 3, 4}, 2), row = signedTensor({4}, 3);
const Value rows = positions({3}, {2, 0, 2}), places = positions({2, 4}, {0, 1, 2, 0, 0, 2, 1, 0});
const Value none, square = signedTensor({4, 4}, 4);

std::vector<Sample> views() {
  std::vector<Sample> list{
      {"aten.view.default", {x, ints({2, 6})}},
      {"aten._unsafe_view.default", {x, ints({2, 6})}},
      {"aten.reshape.default", {x, ints({6, 2})}},
      {"aten.permute.default", {cube, ints({-1, 0, 1})}},
      {"aten.transpose.int", {x, whole(0), whole(-1)}},
      {"aten.t.default", {x}},
      {"aten.expand.default", {row, ints({3, 4})}},
      {"aten.expand.default", {signedTensor({3, 1}, 5), ints({2, 3, 4})}},
      {"aten.unsqueeze.default", {x, whole(1)}},
      {"aten.unsqueeze.default", {x, whole(-1)}},
      {"aten.squeeze.default", {signedTensor({1, 3, 1, 2}, 6)}},
      {"aten.squeeze.dim", {signedTensor({3, 1, 2}, 6), whole(1)}},
      {"aten.squeeze.dim", {signedTensor({3, 1, 2}, 6), whole(0)}},
      {"aten.squeeze.dims", {signedTensor({1, 3, 1, 2}, 6), ints({0, -2, 1})}},
      {"aten.slice.Tensor", {x, whole(1), whole(1), whole(4), whole(2)}},
      {"aten.narrow.default", {x, whole(1), whole(-3), whole(2)}},
      {"aten.select.int", {x, whole(1), whole(-2)}},
      {"aten.diagonal.default", {cube, whole(1), whole(-1), whole(1)}},
      {"aten.unfold.default", {x, whole(1), whole(2), whole(1)}},
      {"aten.split.Tensor", {x, whole(3), whole(-1)}},
      {"aten.split_with_sizes.default", {x, ints({1, 3}), whole(1)}},
      {"aten.unsafe_split.Tensor", {x, whole(3), whole(-1)}},
      {"aten.unsafe_split_with_sizes.default", {x, ints({1, 3}), whole(1)}},
      {"aten.chunk.default", {x, whole(3), whole(1)}},
      {"aten.unbind.int", {x, whole(-1)}},
      {"aten.as_strided.default", {x, ints({2, 2}), ints({4, 2}), whole(1)}},
      {"aten.as_strided.default", {x, ints({3, 3}), ints({2, 1}), none}},
  };
  for (const char* op : {"alias", "lift", "lift_fresh", "positive"})
    list.push_back({fmt::format("aten.{}.default", op), {x}});
  return list;
}

std::vector<Sample> moves() {
  return {
      {"aten.cat.default", {ValueList{x, signedTensor({3, 2}, 7)}, whole(-1)}},
      {"aten.stack.default", {ValueList{x, signedTensor({3, 4}, 8)}, whole(1)}},
      {"aten.repeat.default", {x, ints({2, 1, 3})}},
      {"aten.repeat.default", {row, ints({1})}},
      {"aten.flip.default", {x, ints({0, 1})}},
      {"aten.roll.default", {x, ints({1, 2}), ints({0, 1})}},
      {"aten.roll.default", {x, ints({5}), ints({})}},
      {"aten.tril.default", {square, whole(1)}},
      {"aten.triu.default", {square, whole(-1)}},
      {"aten.constant_pad_nd.default", {x, ints({1, -1, 2, 0}), 3.0}},
      {"aten.im2col.default", {signedTensor({1, 2, 4, 4}, 9), ints({2, 2}), ints({1, 1}), ints({1, 0}), ints({2, 1})}},
      {"aten.col2im.default",
       {signedTensor({1, 4, 9}, 10), ints({4, 4}), ints({2, 2}), ints({1, 1}), ints({0, 0}), ints({1, 1})}},
      {"aten.select_backward.default", {row, ints({3, 4}), whole(0), whole(1)}},
      {"aten.slice_backward.default", {x, ints({6, 4}), whole(0), whole(1), whole(6), whole(2)}},
      {"aten.diagonal_backward.default", {signedTensor({3}, 11), ints({3, 4}), whole(0), whole(0), whole(1)}},
      {"aten.unfold_backward.default", {cube, ints({2, 6}), whole(1), whole(4), whole(1)}},
      {"aten.select_scatter.default", {x, row, whole(0), whole(1)}},
      {"aten.slice_scatter.default", {x, signedTensor({3, 2}, 12), whole(1), whole(0), whole(4), whole(2)}},
      {"aten.diagonal_scatter.default", {square, row, whole(0), whole(0), whole(1)}},
      {"aten.as_strided_scatter.default", {x, signedTensor({2, 2}, 13), ints({2, 2}), ints({4, 2}), whole(1)}},
  };
}

std::vector<Sample> byTensor() {
  return {
      {"aten.index.Tensor", {x, ValueList{rows, positions({3}, {1, 1, 3})}}},
      {"aten.index.Tensor", {x, ValueList{none, positions({2}, {1, 1})}}},
      {"aten._unsafe_index.Tensor", {x, ValueList{rows}}},
      {"aten.index_put.default", {x, ValueList{positions({2}, {0, 2})}, row}},
      {"aten.index_put.default", {x, ValueList{rows}, signedTensor({3, 4}, 14), true}},
      {"aten._unsafe_index_put.default", {x, ValueList{rows}, row, true}},
      {"aten.take.default", {x, positions({2, 2}, {0, 5, 5, 11})}},
      {"aten.put.default", {x, positions({2}, {1, 7}), signedTensor({2}, 15), false}},
      {"aten.put.default", {x, positions({2}, {7, 7}), signedTensor({2}, 15), true}},
      {"aten.gather.default", {x, whole(0), places}},
      {"aten.index_select.default", {x, whole(0), rows}},
      {"aten.embedding.default", {x, rows}},
      {"aten.embedding_dense_backward.default", {x, rows, whole(5), whole(2), false}},
      {"aten.masked_select.default", {x, mask({3, 4})}},
      {"aten.scatter.src", {x, whole(0), positions({1, 4}, {0, 2, 1, 0}), signedTensor({1, 4}, 16)}},
      {"aten.scatter.value", {x, whole(0), positions({1, 4}, {0, 2, 1, 0}), 2.5}},
      {"aten.scatter_add.default", {x, whole(0), places, signedTensor({2, 4}, 16)}},
      {"aten.index_add.default", {x, whole(0), rows, signedTensor({3, 4}, 17)}, {{"alpha", 0.5}}},
      {"aten.index_copy.default", {x, whole(0), positions({2}, {2, 0}), signedTensor({2, 4}, 18)}},
      {"aten.index_fill.int_Scalar", {x, whole(1), rows, 2.5}},
      {"aten.index_fill.int_Tensor", {x, whole(1), positions({2}, {2, 0}), signedTensor({}, 19)}},
      {"aten.masked_scatter.default", {x, mask({3, 4}), signedTensor({5}, 20)}},
  };
}

/// Both ops by each reduction, with and without self, one factor being 0.
std::vector<Sample> reducedInto() {
  std::vector<Sample> list;
  const Value source = tensorOf({2, 4}, {0.5, 2, 0, 1.5, -1, 0.7, 0, 3}, DType::Float64);
  for (const bool withSelf : {true, false})
    for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
      const KeywordValues include{{"include_self", withSelf}};
      list.push_back({"aten.scatter_reduce.two", {x, whole(0), places, source, std::string(reduce)}, include});
      if (std::string_view(reduce) == "sum") continue;
      const Value two = positions({2}, {2, 2});
      list.push_back({"aten.index_reduce.default", {x, whole(0), two, source, std::string(reduce)}, include});
    }
  return list;
}

TEST(IndexGradients, OfViews) {
  expectGradients(views());
  expectGradients(views(), true);
}
TEST(IndexGradients, OfMoves) { expectGradients(moves()); }
TEST(IndexGradients, OfPlacesThatATensorGives) {
  expectGradients(byTensor());
  expectGradients(reducedInto());
}
TEST(IndexGradients, AreAllTested) {
  std::vector<Sample> all;
  for (const auto& list : {views(), moves(), byTensor(), reducedInto()})
    all.insert(all.end(), list.begin(), list.end());
  expectAllTested("index", all);
}

/// Elements of an expanded tensor share memory, and the gradient of it.
TEST(IndexGradients, OfOverlappingMemoryAreShared) {
  const Tensor wide = callTensor("aten.expand.default", {tensorOf({1, 2}, {1, 2}), ints({3, 2})});
  const auto call = bindArguments(*findOp("aten.as_strided.default"), {wide, ints({2}), ints({1}), none}, {});
  ASSERT_TRUE(call);
  const ValueList results{callTensor("aten.as_strided.default", {wide, ints({2}), ints({1})})};
  const auto gradients = call->op->gradient({*call, results}, {tensorOf({2}, {3, 6})}, OpRunner(referenceOps()));
  ASSERT_TRUE(gradients) << gradients.error().text();
  EXPECT_EQ(valuesOf((*gradients)[0].tensor()), (std::vector<double>{1, 2, 1, 2, 1, 2}));
}

/// The row for padding takes none, and a row that is read often less by its count.
TEST(IndexGradients, OfEmbeddings) {
  const Tensor weight = counting({3, 2}), indices = positions({3}, {0, 2, 2});
  const ValueList args{weight, indices, whole(0), true};
  const auto call = bindArguments(*findOp("aten.embedding.default"), args, {});
  const ValueList results{callTensor("aten.embedding.default", args)};
  const Tensor ones = callTensor("aten.ones_like.default", {results[0]});
  const auto gradients = call->op->gradient({*call, results}, {ones}, OpRunner(referenceOps()));
  ASSERT_TRUE(gradients) << gradients.error().text();
  EXPECT_EQ(valuesOf((*gradients)[0].tensor()), (std::vector<double>{0, 0, 0, 0, 1, 1}));
}

/// A list of results of which some have no gradient.
TEST(IndexGradients, OfSomePiecesOnly) {
  const Tensor x6 = counting({6});
  const auto call = bindArguments(*findOp("aten.split.Tensor"), {x6, whole(2)}, {});
  const ValueList results{testing::call("aten.split.Tensor", {x6, whole(2)})};
  ValueList grads;  // of one result, a list (nested braces: a copy for clang)
  grads.emplace_back(ValueList{Value(), Value(tensorOf({2}, {5, 7})), Value()});
  const auto gradients = call->op->gradient({*call, results}, grads, OpRunner(referenceOps()));
  ASSERT_TRUE(gradients) << gradients.error().text();
  EXPECT_EQ(valuesOf((*gradients)[0].tensor()), (std::vector<double>{0, 0, 5, 7, 0, 0}));
}

}  // namespace
}  // namespace kerf
