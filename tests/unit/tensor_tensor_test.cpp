#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"
#include "engine/tensor/tensor.h"

namespace kerf {
namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

Tensor iota(DType dtype, const Sizes& sizes) {
  Tensor flat = Tensor::zeros(DType::Int64, sizes).value();
  for (std::int64_t i = 0; i < flat.numel(); ++i) flat.data<std::int64_t>()[i] = i;
  return flat.to(dtype).value();
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) result.push_back(tensor.itemAsDouble(i));
  return result;
}

TEST(ContiguousStrides, CountsEmptyDimensionsAsOne) {
  EXPECT_EQ(contiguousStrides(Sizes{2, 3, 4}), (Sizes{12, 4, 1}));
  EXPECT_EQ(contiguousStrides(Sizes{2, 0, 4}), (Sizes{4, 4, 1}));
  EXPECT_EQ(contiguousStrides(Sizes{}), Sizes{});
}

TEST(CheckedNumel, RefusesOverflowAndNegativeSizes) {
  EXPECT_EQ(checkedNumel({3, 5}).value(), 15);
  EXPECT_EQ(checkedNumel({huge, huge, 0}).value(), 0);
  EXPECT_EQ(checkedNumel({huge, 2}).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(checkedNumel({2, -1}).error().code, ErrorCode::BadInput);
}

TEST(Storage, RefusesWhatTheMachineCannotHold) {
  EXPECT_EQ(Storage::allocate(-1).error().code, ErrorCode::BadInput);
  EXPECT_EQ(Storage::allocate(huge - 4096).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(Tensor::zeros(DType::Float32, {1 << 30, 1 << 20}).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(Tensor::zeros(DType::Float64, {huge / 4}).error().code, ErrorCode::TooLarge);
}

TEST(Storage, IsZeroedAlignedAndAccountedFor) {
  for (const std::int64_t bytes : {1, 1000, 1 << 20, (16 << 20) + 3}) {
    const std::int64_t before = liveStorageBytes();
    {
      const auto storage = Storage::allocate(bytes).value();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(storage->data()) % 64, 0u);
      EXPECT_EQ(std::ranges::count(storage->view(), std::byte{0}), bytes);
      EXPECT_GE(liveStorageBytes(), before + bytes);
    }
    EXPECT_EQ(liveStorageBytes(), before);
  }
}

TEST(Storage, BorrowKeepsTheOwnerAliveAndDoesNotFree) {
  auto owner = std::make_shared<std::vector<std::byte>>(8);
  const std::weak_ptr watch = owner;
  auto storage = Storage::borrow(owner->data(), 8, owner);
  owner.reset();
  EXPECT_FALSE(watch.expired());
  storage.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, ContiguityIgnoresSizeOneDimensions) {
  const Tensor base = iota(DType::Float32, {2, 3});
  EXPECT_TRUE(base.isContiguous());
  EXPECT_FALSE(base.viewAs({3, 2}, {1, 3}, 0).isContiguous());
  EXPECT_TRUE(base.viewAs({1, 3}, {99, 1}, 3).isContiguous());
  EXPECT_TRUE(base.viewAs({0, 2}, {7, 7}, 0).isContiguous());
}

TEST(Tensor, ContiguousCopiesATransposedView) {
  const Tensor view = iota(DType::Int32, {2, 3}).viewAs({3, 2}, {1, 3}, 0);
  const Tensor dense = view.contiguous().value();
  EXPECT_EQ(dense.strides(), (Sizes{2, 1}));
  EXPECT_EQ(values(dense), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(dense.contiguous().value().storage(), dense.storage());
}

TEST(Tensor, ClonePreservingStridesKeepsOverlapAndOffset) {
  const Tensor base = iota(DType::Float64, {10});
  const Tensor window = base.viewAs({3, 4}, {2, 1}, 1);
  const Tensor copy = window.clonePreservingStrides().value();
  EXPECT_EQ(copy.strides(), (Sizes{2, 1}));
  EXPECT_EQ(copy.storage()->bytes(), 8 * 8);
  EXPECT_EQ(values(copy), values(window));
  EXPECT_EQ(values(copy), (std::vector<double>{1, 2, 3, 4, 3, 4, 5, 6, 5, 6, 7, 8}));
}

TEST(Tensor, InBoundsCatchesEveryWayOut) {
  const Tensor base = iota(DType::Float32, {10});
  EXPECT_TRUE(base.viewAs({2, 5}, {5, 1}, 0).inBounds());
  EXPECT_FALSE(base.viewAs({2, 5}, {5, 1}, 1).inBounds());
  EXPECT_FALSE(base.viewAs({2}, {huge}, 0).inBounds());
  EXPECT_FALSE(base.viewAs({huge}, {huge}, 0).inBounds());
  EXPECT_FALSE(base.viewAs({2}, {-1}, 5).inBounds());
  EXPECT_FALSE(base.viewAs({2}, {1}, -1).inBounds());
  EXPECT_FALSE(base.viewAs({huge, huge}, {0, 0}, 0).inBounds());
  EXPECT_TRUE(base.viewAs({0, huge}, {huge, huge}, 3).inBounds());
  EXPECT_TRUE(base.viewAs({1000}, {0}, 9).inBounds());
}

TEST(Tensor, ConvertsBetweenAnyTwoDtypes) {
  const Tensor source = iota(DType::Float32, {2, 2});
  for (const DType dtype : {DType::Float64, DType::Float16, DType::BFloat16, DType::Float8E4M3FN, DType::Complex64,
                            DType::Int8, DType::UInt64, DType::UInt16}) {
    const Tensor there = source.to(dtype).value();
    EXPECT_EQ(there.dtype(), dtype);
    EXPECT_EQ(values(there), (std::vector<double>{0, 1, 2, 3})) << dtypeInfo(dtype).torchName;
    EXPECT_EQ(values(there.to(DType::Float32).value()), values(source));
  }
  EXPECT_EQ(values(source.to(DType::Bool).value()), (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(source.to(DType::Complex32).error().code, ErrorCode::UnsupportedOp);
}

TEST(Tensor, ScalarsRoundToTheirDtype) {
  EXPECT_EQ(Tensor::scalar(0.1, DType::Float32).itemAsDouble(), double(0.1f));
  EXPECT_EQ(Tensor::scalarInt((std::int64_t{1} << 62) + 1, DType::Int64).itemAsInt(), (std::int64_t{1} << 62) + 1);
  EXPECT_EQ(Tensor::scalar(2.5, DType::Int32).itemAsInt(), 2);
  EXPECT_EQ(Tensor::scalar(1, DType::Float64).dim(), 0);
}

TEST(CopyElements, WritesThroughStridesAndExpandedSources) {
  const Tensor target = Tensor::zeros(DType::Float32, {3, 4}).value();
  const Tensor column = iota(DType::Int64, {3}).viewAs({3, 2}, {1, 0}, 0);
  ASSERT_TRUE(copyElements(column, target.viewAs({3, 2}, {4, 2}, 1)).has_value());
  EXPECT_EQ(values(target), (std::vector<double>{0, 0, 0, 0, 0, 1, 0, 1, 0, 2, 0, 2}));
  EXPECT_EQ(copyElements(column, target).error().code, ErrorCode::ShapeMismatch);
}

TEST(CopyElements, LargeCopiesAgreeWithElementAccess) {
  const Tensor base = iota(DType::Int32, {300, 7, 211});
  const Tensor dense = base.viewAs({211, 300, 7}, {1, 7 * 211, 211}, 0).to(DType::Float64).value();
  for (std::int64_t i = 0; i < 211; ++i)
    for (std::int64_t j = 0; j < 300; ++j)
      for (std::int64_t k = 0; k < 7; ++k)
        ASSERT_EQ(dense.data<double>()[(i * 300 + j) * 7 + k], double((j * 7 + k) * 211 + i));
}

TEST(Dispatch, CallsTheMatchingTypeOrNamesTheDtype) {
  std::size_t size = 0;
  ASSERT_TRUE(dispatchAll(DType::BFloat16, [&]<class T>() { size = sizeof(OpMath<T>); }).has_value());
  EXPECT_EQ(size, sizeof(float));
  const auto refused = dispatchFloating(DType::Int64, [&]<class T>() { size = 0; });
  EXPECT_EQ(refused.error().code, ErrorCode::UnsupportedOp);
  EXPECT_NE(refused.error().message.find("torch.int64"), std::string::npos);
  EXPECT_EQ(size, sizeof(float));
}

}  // namespace
}  // namespace kerf
