// Names of torch.linalg that are programs where they are traced and kernels where they run: both give the same.
#include "engine/conformance/difference_point.h"
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

struct Form {
  const char* op;
  ValueList more = {};  ///< arguments after the matrices
  std::size_t matrices = 1;
};

std::vector<Form> forms() {
  const Value yes(true), no(false), lower(std::string("L"));
  return {{"aten.det.default"},
          {"aten.linalg_det.default"},
          {"aten.slogdet.default"},
          {"aten.linalg_slogdet.default"},
          {"aten.inverse.default"},
          {"aten.linalg_inv.default"},
          {"aten.linalg_solve.default", {}, 2},
          {"aten.linalg_solve_ex.default", {}, 2},
          {"aten.linalg_lu_factor.default"},
          {"aten._lu_with_info.default"},
          {"aten.linalg_ldl_factor.default"},
          {"aten.linalg_eigh.default", {lower}},
          {"aten.linalg_eigvalsh.default", {lower}},
          {"aten.linalg_eigvals.default"},
          {"aten.linalg_svd.default", {no}},
          {"aten.linalg_svd.default", {yes}},
          {"aten.linalg_svdvals.default"},
          {"aten.svd.default", {yes, yes}},
          {"aten.svd.default", {yes, no}},
          {"aten.qr.default", {yes}},
          {"aten.qr.default", {no}},
          {"aten.matrix_exp.default"}};
}

ValueList listed(const Value& result) { return result.isList() ? result.list() : ValueList{result}; }

void expectSame(const Form& form, const ValueList& matrices) {
  const OpInfo& op = *findOp(form.op);
  ASSERT_NE(op.composite, nullptr) << form.op;
  ValueList values(matrices.begin(), matrices.begin() + std::ptrdiff_t(form.matrices));
  values.insert(values.end(), form.more.begin(), form.more.end());
  const BoundArguments args = bindArguments(op, values, {}).value();
  const auto kernel = op.kernel(args), program = op.composite(args, OpRunner(referenceOps()));
  ASSERT_TRUE(kernel) << form.op << ": " << kernel.error().text();
  ASSERT_TRUE(program) << form.op << ": " << program.error().text();
  const ValueList a = listed(*kernel), b = listed(*program);
  ASSERT_EQ(a.size(), b.size()) << form.op;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tensor().dtype(), b[i].tensor().dtype()) << form.op;
    ASSERT_EQ(a[i].tensor().sizes(), b[i].tensor().sizes()) << form.op;
    const auto x = numbersOf(a[i].tensor()), y = numbersOf(b[i].tensor());
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], y[k], 1e-12) << form.op << " result " << i;
  }
}

TEST(LinalgPrograms, GiveWhatTheirKernelsGive) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::Float64, DType::Complex128}) {
    ValueList matrices;
    for (int i = 0; i < 2; ++i) matrices.emplace_back(randomLike(*Tensor::zeros(dtype, {2, 3, 3}), random));
    for (const Form& form : forms()) expectSame(form, matrices);
  }
}

TEST(LinalgPrograms, FailAsTheirKernelsDo) {
  const Tensor zeros = *Tensor::zeros(DType::Float64, {2, 2});
  for (const char* name : {"aten.linalg_inv.default", "aten.linalg_cholesky.default"}) {
    const OpInfo& op = *findOp(name);
    const BoundArguments args = bindArguments(op, {zeros}, {}).value();
    const auto kernel = op.kernel(args), program = op.composite(args, OpRunner(referenceOps()));
    ASSERT_FALSE(kernel) << name;
    ASSERT_FALSE(program) << name;
    EXPECT_EQ(kernel.error().code, program.error().code) << name;
  }
}

}  // namespace
}  // namespace kerf
