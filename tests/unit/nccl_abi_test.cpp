// What Kerf declares of NCCL against NCCL's own header, where the machine has one.
#include <gtest/gtest.h>

#include "engine/distributed/nccl/nccl_library.h"

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <nccl.h>

namespace kerf {
namespace {

TEST(NcclAbi, TypesAndReductionsHaveNcclsNumbers) {
  struct Row {
    DType dtype;
    ncclDataType_t type;
  };
  for (const Row& row : {Row{DType::Int8, ncclInt8}, Row{DType::UInt8, ncclUint8}, Row{DType::Int32, ncclInt32},
                         Row{DType::UInt32, ncclUint32}, Row{DType::Int64, ncclInt64}, Row{DType::UInt64, ncclUint64},
                         Row{DType::Float16, ncclFloat16}, Row{DType::Float32, ncclFloat32},
                         Row{DType::Float64, ncclFloat64}, Row{DType::BFloat16, ncclBfloat16}})
    EXPECT_EQ(ncclReduction(row.dtype, "sum").value().type, int(row.type));
  EXPECT_EQ(ncclReduction(DType::Float32, "sum").value().op, int(ncclSum));
  EXPECT_EQ(ncclReduction(DType::Float32, "product").value().op, int(ncclProd));
  EXPECT_EQ(ncclReduction(DType::Float32, "max").value().op, int(ncclMax));
  EXPECT_EQ(ncclReduction(DType::Float32, "min").value().op, int(ncclMin));
  EXPECT_EQ(ncclReduction(DType::Float32, "avg").value().op, int(ncclAvg));
  EXPECT_EQ(ncclBytes, int(ncclUint8));
  EXPECT_EQ(int(NcclStatus::ncclDone), int(ncclSuccess));
  EXPECT_EQ(int(NcclStatus::ncclStillGoing), int(ncclInProgress));
}

TEST(NcclAbi, StructsAreNcclsFirstFields) {
  EXPECT_EQ(sizeof(NcclId), sizeof(ncclUniqueId));
  EXPECT_EQ(offsetof(NcclConfig, magic), offsetof(ncclConfig_t, magic));
  EXPECT_EQ(offsetof(NcclConfig, version), offsetof(ncclConfig_t, version));
  EXPECT_EQ(offsetof(NcclConfig, blocking), offsetof(ncclConfig_t, blocking));
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(NcclConfig().magic, theirs.magic);
  EXPECT_LT(NcclConfig().version, theirs.version);
}

}  // namespace
}  // namespace kerf
#else
namespace kerf {
TEST(NcclAbi, TypesAndReductionsHaveNcclsNumbers) { GTEST_SKIP() << "this machine has no nccl.h"; }
}  // namespace kerf
#endif
