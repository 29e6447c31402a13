// Gradients and tangents of torch.linalg: by differences, on matrices for which they exist.
#include "ops_gradient_testing.h"

namespace kerf {
namespace {

using namespace testing;

using Tensors = std::vector<Tensor>;

struct Field {
  DType dtype;
  const char* name;
};
constexpr Field fields[] = {{DType::Float64, "real"}, {DType::Complex128, "complex"}};

/// The call with tensors before what `more` has; its results that hold numbers.
TensorProgram numbersOfCall(std::string_view op, const KeywordValues& kwargs = {}, const ValueList& more = {}) {
  return [op = std::string(op), kwargs, more](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
    ValueList args(x.begin(), x.end());
    args.insert(args.end(), more.begin(), more.end());
    KERF_TRY(const Value all, run.value(OpTarget(op), args, kwargs));
    return numberTensors(all.isList() ? all.list() : ValueList{all}, {});
  };
}

/// `program` on X · Xᴴ + 2 of its first argument X.
TensorProgram onPositive(const TensorProgram& program) {
  return [program](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
    KERF_TRY(Tensor turned, run("aten.transpose.int"_op, {x[0], std::int64_t{-2}, std::int64_t{-1}}));
    if (isComplex(x[0].dtype())) {
      KERF_TRY(turned, run("aten._conj_physical.default"_op, {turned}));
    }
    KERF_TRY(const Tensor product, run("aten.matmul.default"_op, {x[0], turned}));
    KERF_TRY(const Tensor eye, run("aten.eye.default"_op, {x[0].symSizes().back()}, {{"dtype", x[0].dtype()}}));
    KERF_TRY(const Tensor positive, run("aten.add.Tensor"_op, {product, eye}, {{"alpha", std::int64_t{2}}}));
    Tensors arguments = x;
    arguments[0] = positive;
    return program(arguments, run);
  };
}

/// Vectors are known up to a sign or a phase; squares of their sizes are not.
Result<Tensor> withoutPhase(const Tensor& vectors, const OpRunner& run) {
  KERF_TRY(const Tensor size, run("aten.abs.default"_op, {vectors}));
  return run("aten.mul.Tensor"_op, {size, size});
}

Tensor shifted(const Tensor& matrices, double by) {
  const Tensor eye =
      callTensor("aten.eye.default", {matrices.size(-1 + matrices.dim())}, {{"dtype", matrices.dtype()}});
  return callTensor("aten.add.Tensor", {matrices, eye}, {{"alpha", by}});
}
/// Column-major, which PyTorch hands to LAPACK as it is.
Tensor columnMajor(const Tensor& matrices) {
  const Value turned = callTensor("aten.transpose.int", {matrices, std::int64_t{-2}, std::int64_t{-1}});
  const Tensor copy = callTensor("aten.clone.default", {turned}, {{"memory_format", MemoryFormat::Contiguous}});
  return callTensor("aten.transpose.int", {copy, std::int64_t{-2}, std::int64_t{-1}});
}

TEST(LinalgGradients, OfInversesDeterminantsAndExponentials) {
  for (const Field& field : fields) {
    const Tensor a = shifted(randomNumbers({2, 3, 3}, 1, field.dtype), 2),
                 one = shifted(randomNumbers({3, 3}, 2, field.dtype), 2);
    for (const char* op :
         {"aten.linalg_inv_ex.default", "aten.linalg_inv.default", "aten.inverse.default",
          "aten.linalg_matrix_exp.default", "aten.matrix_exp.default", "aten.linalg_det.default", "aten.det.default",
          "aten.linalg_slogdet.default", "aten.slogdet.default", "aten.logdet.default", "aten.linalg_pinv.default"}) {
      const ValueList more = std::string_view(op) == "aten.linalg_pinv.default" ? ValueList{1e-15} : ValueList{};
      for (const Tensor& x : {a, one, columnMajor(a)})
        expectDifferentiable(fmt::format("{} {}", op, field.name), numbersOfCall(op, {}, more), {x});
    }
  }
}

TEST(LinalgGradients, OfPseudoInversesOfAnyShape) {
  for (const Field& field : fields)
    for (const Sizes& sizes : {Sizes{4, 2}, Sizes{2, 4}, Sizes{2, 3, 3}}) {
      const Tensor a = randomNumbers(sizes, 3, field.dtype);
      expectDifferentiable(fmt::format("pinv {}", field.name), numbersOfCall("aten.linalg_pinv.atol_rtol_float"), {a});
    }
  // Singular values that are equal are no obstacle
  const Tensor eye = callTensor("aten.eye.default", {std::int64_t{3}}, {{"dtype", DType::Float64}});
  expectDifferentiable("pinv of 1", numbersOfCall("aten.linalg_pinv.atol_rtol_float"), {eye});
}

TEST(LinalgGradients, OfLinearSystems) {
  for (const Field& field : fields)
    for (const bool left : {true, false}) {
      const Tensor rows = shifted(randomNumbers({2, 3, 3}, 4, field.dtype), 2);
      const Tensor b = randomNumbers(left ? Sizes{2, 3, 2} : Sizes{2, 2, 3}, 5, field.dtype);
      for (const Tensor& a : {rows, columnMajor(rows)}) {
        const KeywordValues side{{"left", Value(left)}};
        expectDifferentiable("solve", numbersOfCall("aten.linalg_solve.default", side), {a, b});
        expectDifferentiable("solve_ex", numbersOfCall("aten.linalg_solve_ex.default", side), {a, b});
        for (const bool isUpper : {true, false})
          for (const bool unit : {true, false})
            expectDifferentiable(
                "solve_triangular",
                numbersOfCall("aten.linalg_solve_triangular.default",
                              {{"upper", Value(isUpper)}, {"left", Value(left)}, {"unitriangular", Value(unit)}}),
                {a, b});
      }
    }
  const Tensor a = shifted(randomNumbers({3, 3}, 6), 2);
  expectDifferentiable("solve of a vector", numbersOfCall("aten.linalg_solve.default"), {a, randomNumbers({3}, 7)});
  expectDifferentiable("solve of batches", numbersOfCall("aten.linalg_solve.default"),
                       {a, randomNumbers({2, 3, 2}, 8)});
}

TEST(LinalgGradients, OfLuFactorsAndTheirSystems) {
  for (const Field& field : fields) {
    for (const Sizes& sizes : {Sizes{3, 3}, Sizes{2, 4, 3}, Sizes{2, 3, 4}}) {
      const Tensor a = randomNumbers(sizes, 9, field.dtype);
      expectDifferentiable("lu_factor", numbersOfCall("aten.linalg_lu_factor.default"), {a});
      for (const bool pivot : {true, false}) {
        const TensorProgram lu = [pivot](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
          KERF_TRY(const Value all, run.value("aten.linalg_lu.default"_op, {x[0]}, {{"pivot", Value(pivot)}}));
          return Tensors{all.list()[1].tensor(), all.list()[2].tensor()};
        };
        expectDifferentiable("lu", lu, {a});
      }
      const Tensor pivots = call("aten.linalg_lu_factor.default", {a}).list()[1].tensor();
      const TensorProgram unpack = [pivots](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
        KERF_TRY(const Value all, run.value("aten.lu_unpack.default"_op, {x[0], pivots}));
        return Tensors{all.list()[1].tensor(), all.list()[2].tensor()};
      };
      expectDifferentiable("lu_unpack", unpack, {a});
    }
    const Value factors = call("aten.linalg_lu_factor.default", {randomNumbers({2, 3, 3}, 10, field.dtype)});
    for (const bool left : {true, false})
      for (const bool adjoint : {true, false}) {
        const TensorProgram solve = [&](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
          KERF_TRY(const Tensor out, run("aten.linalg_lu_solve.default"_op, {x[0], factors.list()[1], x[1]},
                                         {{"left", Value(left)}, {"adjoint", Value(adjoint)}}));
          return Tensors{out};
        };
        const Tensor b = randomNumbers(left ? Sizes{2, 3, 2} : Sizes{2, 2, 3}, 11, field.dtype);
        expectDifferentiable(fmt::format("lu_solve {} {} {}", field.name, left, adjoint), solve,
                             {factors.list()[0].tensor(), b});
      }
  }
}

TEST(LinalgGradients, OfCholeskyFactors) {
  for (const Field& field : fields)
    for (const bool isUpper : {false, true}) {
      const Tensor x = randomNumbers({2, 3, 3}, 12, field.dtype), b = randomNumbers({2, 3, 2}, 13, field.dtype);
      expectDifferentiable("cholesky", onPositive(numbersOfCall("aten.cholesky.default", {}, {isUpper})), {x});
      const KeywordValues half{{"upper", Value(isUpper)}};
      expectDifferentiable("linalg_cholesky", onPositive(numbersOfCall("aten.linalg_cholesky.default", half)), {x});
      const Tensor triangle = shifted(x, 2);
      const TensorProgram inverse = [isUpper](const Tensors& a, const OpRunner& run) -> Result<Tensors> {
        KERF_TRY(const Tensor factor, run("aten.cholesky.default"_op, {a[0], isUpper}));
        KERF_TRY(const Tensor out, run("aten.cholesky_inverse.default"_op, {factor, isUpper}));
        return Tensors{out};
      };
      expectDifferentiable("cholesky_inverse", onPositive(inverse), {x});
      if (!isComplex(field.dtype))  // of complex ones only real diagonals make sense
        expectDifferentiable("inverse of a triangle", numbersOfCall("aten.cholesky_inverse.default", {}, {isUpper}),
                             {triangle});
      expectDifferentiable("cholesky_solve", numbersOfCall("aten.cholesky_solve.default", {}, {isUpper}),
                           {b, triangle});
    }
}

TEST(LinalgGradients, OfQrFactorsAndReflections) {
  for (const Field& field : fields) {
    for (const Sizes& sizes : {Sizes{3, 3}, Sizes{2, 4, 2}, Sizes{2, 2, 4}})
      expectDifferentiable("qr", numbersOfCall("aten.linalg_qr.default"), {randomNumbers(sizes, 14, field.dtype)});
    const Tensor a = randomNumbers({2, 4, 3}, 15, field.dtype), tau = randomNumbers({2, 2}, 16, field.dtype);
    expectDifferentiable("householder_product", numbersOfCall("aten.linalg_householder_product.default"), {a, tau});
    expectDifferentiable("orgqr", numbersOfCall("aten.orgqr.default"), {a, tau});
    for (const bool left : {true, false})
      for (const bool turned : {true, false}) {
        const Tensor other = randomNumbers(left ? Sizes{2, 4, 2} : Sizes{2, 2, 4}, 17, field.dtype);
        expectDifferentiable(fmt::format("ormqr {} {} {}", field.name, left, turned),
                             numbersOfCall("aten.ormqr.default", {}, {left, turned}), {a, tau, other});
      }
  }
  const auto complete =
      slopesOf(numbersOfCall("aten.linalg_qr.default", {}, {std::string("complete")}), {randomNumbers({4, 2}, 18)}, 0);
  ASSERT_FALSE(complete);
  EXPECT_EQ(complete.error().code, ErrorCode::UnsupportedOp);
}

TEST(LinalgGradients, OfEigenvaluesAndVectors) {
  for (const Field& field : fields) {
    const Tensor x = randomNumbers({2, 3, 3}, 19, field.dtype);
    for (const char* half : {"L", "U"}) {
      const TensorProgram eigh = [half](const Tensors& a, const OpRunner& run) -> Result<Tensors> {
        KERF_TRY(const Value all, run.value("aten.linalg_eigh.default"_op, {a[0], std::string(half)}));
        KERF_TRY(const Tensor sizes, withoutPhase(all.list()[1].tensor(), run));
        return Tensors{all.list()[0].tensor(), sizes};
      };
      expectDifferentiable("eigh", onPositive(eigh), {x});
      expectDifferentiable("eigvalsh",
                           onPositive(numbersOfCall("aten.linalg_eigvalsh.default", {}, {std::string(half)})), {x});
    }
    const TensorProgram eig = [](const Tensors& a, const OpRunner& run) -> Result<Tensors> {
      KERF_TRY(const Value all, run.value("aten.linalg_eig.default"_op, {a[0]}));
      KERF_TRY(const Tensor sizes, withoutPhase(all.list()[1].tensor(), run));
      return Tensors{all.list()[0].tensor(), sizes};
    };
    expectDifferentiable("eig", eig, {x});
    expectDifferentiable("eigvals", numbersOfCall("aten.linalg_eigvals.default"), {x});
  }
}

TEST(LinalgGradients, OfSingularValuesAndVectors) {
  for (const Field& field : fields)
    for (const Sizes& sizes : {Sizes{3, 3}, Sizes{2, 4, 2}, Sizes{2, 2, 4}}) {
      const Tensor a = randomNumbers(sizes, 20, field.dtype);
      const TensorProgram svd = [](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
        KERF_TRY(const Value all, run.value("aten.linalg_svd.default"_op, {x[0], false}));
        KERF_TRY(const Tensor left, withoutPhase(all.list()[0].tensor(), run));
        KERF_TRY(const Tensor right, withoutPhase(all.list()[2].tensor(), run));
        KERF_TRY(const Tensor product, run("aten.matmul.default"_op, {all.list()[0], all.list()[2]}));
        return Tensors{left, all.list()[1].tensor(), right, product};
      };
      expectDifferentiable("svd", svd, {a});
      expectDifferentiable("svdvals", numbersOfCall("aten.linalg_svdvals.default"), {a});
      const TensorProgram onlyValues = [](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
        KERF_TRY(const Value all, run.value("aten._linalg_svd.default"_op, {x[0], false, false}));
        return Tensors{all.list()[1].tensor()};
      };
      expectDifferentiable("svd without vectors", onlyValues, {a});
    }
}

TEST(LinalgGradients, OfLeastSquares) {
  for (const Field& field : fields)
    for (const Sizes& sizes : {Sizes{4, 2}, Sizes{2, 4}, Sizes{3, 3}})
      for (const char* driver : {"gels", "gelsd"}) {
        const Tensor a = randomNumbers(sizes, 21, field.dtype), b = randomNumbers({sizes[0], 3}, 22, field.dtype);
        const TensorProgram solve = [&](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
          KERF_TRY(const Value all,
                   run.value("aten.linalg_lstsq.default"_op, {x[0], x[1]}, {{"driver", std::string(driver)}}));
          Tensors results{all.list()[0].tensor()};
          if (all.list()[1].tensor().numel() > 0) results.push_back(all.list()[1].tensor());
          return results;
        };
        expectDifferentiable("lstsq", solve, {a, b});
      }
}

TEST(LinalgGradients, OfProducts) {
  for (const Field& field : fields) {
    const auto numbers = [&](const Sizes& sizes, unsigned seed) { return randomNumbers(sizes, seed, field.dtype); };
    const KeywordValues factors{{"beta", 0.5}, {"alpha", 2.0}};
    expectDifferentiable("mm", numbersOfCall("aten.mm.default"), {numbers({3, 4}, 1), numbers({4, 2}, 2)});
    expectDifferentiable("mm of columns", numbersOfCall("aten.mm.default"),
                         {columnMajor(numbers({3, 4}, 1)), columnMajor(numbers({4, 2}, 2))});
    expectDifferentiable("bmm", numbersOfCall("aten.bmm.default"), {numbers({2, 3, 4}, 3), numbers({2, 4, 2}, 4)});
    expectDifferentiable("mv", numbersOfCall("aten.mv.default"), {numbers({3, 4}, 5), numbers({4}, 6)});
    expectDifferentiable("dot", numbersOfCall("aten.dot.default"), {numbers({4}, 7), numbers({4}, 8)});
    expectDifferentiable("vdot", numbersOfCall("aten.vdot.default"), {numbers({4}, 9), numbers({4}, 10)});
    expectDifferentiable("addmm", numbersOfCall("aten.addmm.default", factors),
                         {numbers({2}, 11), numbers({3, 4}, 12), numbers({4, 2}, 13)});
    expectDifferentiable("baddbmm", numbersOfCall("aten.baddbmm.default", factors),
                         {numbers({2, 3, 2}, 14), numbers({2, 3, 4}, 15), numbers({2, 4, 2}, 16)});
    expectDifferentiable("addbmm", numbersOfCall("aten.addbmm.default", factors),
                         {numbers({3, 2}, 17), numbers({2, 3, 4}, 18), numbers({2, 4, 2}, 19)});
    expectDifferentiable("addmv", numbersOfCall("aten.addmv.default", factors),
                         {numbers({3}, 20), numbers({3, 4}, 21), numbers({4}, 22)});
    expectDifferentiable("addr", numbersOfCall("aten.addr.default", factors),
                         {numbers({2}, 23), numbers({3}, 24), numbers({2}, 25)});
  }
}

/// A linear layer's weight is transposed: its gradient is a product that is transposed again, as PyTorch's is.
TEST(LinalgGradients, OfColumnMajorFactorsAreColumnMajor) {
  const OpInfo& op = *findOp("aten.mm.default");
  const Tensor x = randomNumbers({3, 4}, 1), weight = columnMajor(randomNumbers({4, 2}, 2));
  const BoundArguments args = bindArguments(op, {x, weight}, {}).value();
  const ValueList results{callTensor("aten.mm.default", {x, weight})};
  const auto grads = op.gradient({args, results}, {results[0]}, OpRunner(referenceOps()));
  ASSERT_TRUE(grads) << grads.error().text();
  EXPECT_EQ((*grads)[0].tensor().strides(), (Sizes{4, 1}));
  EXPECT_EQ((*grads)[1].tensor().strides(), (Sizes{1, 4}));
}

}  // namespace
}  // namespace kerf
