// Names of torch.linalg that are programs: those that are kernels where they run give the same, and errors are told.
#include "engine/conformance/difference_point.h"
#include "engine/ops/core/op_row.h"
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

struct Form {
  const char* op;
  ValueList more = {};  ///< arguments after the matrix
};

std::vector<Form> forms() {
  const Value yes(true), no(false), lower(std::string("L"));
  return {{"aten.linalg_eigvalsh.default", {lower}},
          {"aten.linalg_eigvals.default"},
          {"aten.linalg_svdvals.default"},
          {"aten.svd.default", {yes, yes}},
          {"aten.svd.default", {yes, no}}};
}

ValueList listed(const Value& result) { return result.isList() ? result.list() : ValueList{result}; }

void expectSame(const Form& form, const Tensor& matrix) {
  const OpInfo& op = *findOp(form.op);
  ASSERT_NE(op.composite, nullptr) << form.op;
  ASSERT_NE(op.row->kernel, nullptr) << form.op;
  ValueList values{matrix};
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
    const Tensor matrix = randomLike(*Tensor::zeros(dtype, {2, 3, 3}), random);
    for (const Form& form : forms()) expectSame(form, matrix);
  }
}

TEST(LinalgPrograms, TakeMatricesWithoutElements) {
  const Tensor empty = *Tensor::zeros(DType::Float64, {2, 0, 0});
  for (const char* op : {"aten.linalg_inv.default", "aten.linalg_cholesky.default", "aten.linalg_lu_factor.default",
                         "aten.linalg_ldl_factor.default", "aten.linalg_det.default", "aten.linalg_eigh.default"}) {
    const auto result = referenceOps().call(op, {empty}, {});
    EXPECT_TRUE(result) << op << ": " << (result ? "" : result.error().text());
  }
}

TEST(LinalgPrograms, FailWhereLapackDoes) {
  struct Failure {
    const char* op;
    const char* says;
  };
  const Tensor zeros = *Tensor::zeros(DType::Float64, {2, 2});
  for (const Failure& failure : {Failure{"aten.linalg_inv.default", "linalg.inv: The diagonal element 1 is zero"},
                                 Failure{"aten.linalg_cholesky.default", "linalg.cholesky: The factorization could"},
                                 Failure{"aten.linalg_lu_factor.default", "U[1,1] is zero"}}) {
    const auto result = referenceOps().call(failure.op, {zeros}, {});
    ASSERT_FALSE(result) << failure.op;
    EXPECT_EQ(result.error().code, ErrorCode::RuntimeFailed) << failure.op;
    EXPECT_NE(result.error().message.find(failure.says), std::string::npos) << result.error().message;
  }
}

}  // namespace
}  // namespace kerf
