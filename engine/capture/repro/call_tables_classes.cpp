// Methods of tensors, and modules of torch.nn.
#include "engine/capture/repro/call_tables.h"

namespace kerf::inline capture {

/// Beside those that ATen has; also of sizes and of what Dynamo passes around.
const CallNames& tensorMethods() {
  static const CallNames names(R"(
    size stride dim ndimension numel nelement element_size storage_offset is_contiguous is_floating_point is_complex
    is_signed is_pinned get_device data_ptr item tolist to cpu cuda xpu float double half bfloat16 int long short
    char byte bool cfloat cdouble chalf type type_as view reshape reshape_as expand_as view_as contiguous
    requires_grad_ retain_grad detach detach_ new new_tensor norm split unflatten repeat permute unique
    unique_consecutive stft istft backward is_set_to is_same_size is_shared has_names ndim dense_dim sparse_dim
    index_put clone lu where count index append extend clear keys values items get copy copy_ __getitem__ __add__
    __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __pow__ __rpow__ __neg__ __eq__ __ne__
    __lt__ __le__ __gt__ __ge__ __and__ __or__ __xor__ __invert__ __matmul__ __rmatmul__ __floordiv__ __mod__
    __setitem__ __len__ __bool__ __int__ __float__ __contains__ __iadd__ __isub__ __imul__ __itruediv__ __rand__
    __ror__ __lshift__ __rshift__ __abs__)");
  return names;
}

/// Classes of torch.nn that __init__ may construct.
const CallNames& moduleClasses() {
  static const CallNames names(R"(
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
    AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d
    Bilinear CELU CTCLoss ChannelShuffle ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d
    ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss Dropout
    Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten Fold GELU GLU GRU GRUCell
    GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh HuberLoss Identity InstanceNorm1d InstanceNorm2d
    InstanceNorm3d KLDivLoss L1Loss LPPool1d LPPool2d LSTM LSTMCell LayerNorm LeakyReLU Linear LocalResponseNorm
    LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d
    MaxUnpool3d Mish ModuleDict ModuleList MultiheadAttention NLLLoss PReLU PairwiseDistance ParameterDict
    ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNCell RReLU ReLU ReLU6 ReflectionPad1d
    ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU Sequential SiLU Sigmoid
    SmoothL1Loss Softmax Softmax2d Softmin Softplus Softshrink Softsign SyncBatchNorm Tanh Tanhshrink Threshold
    Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
    TripletMarginLoss Unflatten Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d
    ZeroPad3d)");
  return names;
}

}  // namespace kerf::inline capture
