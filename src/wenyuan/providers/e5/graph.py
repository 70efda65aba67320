"""The network of multilingual-e5-small as an ONNX graph with 8-bit integer matrix products.

A BERT encoder (Devlin et al., arXiv:1810.04805) over one text, mean pooling, unit length. Three
choices are worth knowing:

- Weights get 7 of the 8 bits, one scale per output. Products of 8-bit activations and 7-bit
  weights cannot saturate the 16-bit sums of processors without VNNI, so every x86 processor
  computes the same integers.
- In most layers one neuron of the feed-forward block has weights and activations ten to fifty
  times as large as any other. Such columns are taken out of the integer product and multiplied
  in float32 (Dettmers et al., arXiv:2208.07339); this cuts the error of the vectors to a third.
- Additions are not fused with the normalisation after them: onnxruntime's fused operator
  (SkipLayerNormalization) takes five times as long as the two it replaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wenyuan.providers.e5.weights import Weights

if TYPE_CHECKING:
    import onnx

INPUT = "embedded_tokens"
OUTPUT = "vector"

_LARGEST_WEIGHT = 63
_OUTLIER_RATIO = 8
_CONTRIBUTED = "com.microsoft"


def build_graph(weights: Weights) -> onnx.ModelProto:
    """Return the graph: float32 (1, tokens, hidden) token embeddings in, (1, hidden) unit vector out."""
    return _GraphBuilder(weights).model()


class _GraphBuilder:
    def __init__(self, weights: Weights) -> None:
        # Only conversion needs onnx, and a model that is converted opens faster than onnx loads.
        import onnx

        self._onnx = onnx
        self._weights = weights
        self._shape = weights.shape
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def model(self) -> onnx.ModelProto:
        hidden = self._shape.hidden
        x = self._normalise(INPUT, "emb.ln")
        for layer in range(self._shape.layers):
            x = self._layer(x, f"l{layer}.")
        mean = self._node("ReduceMean", [x, self._constant("token_axis", np.array([1], np.int64))], "mean", keepdims=0)
        self._node("LpNormalization", [mean], OUTPUT, axis=-1, p=2)
        helper, floats = self._onnx.helper, self._onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info(INPUT, floats, [1, "tokens", hidden])],
            [helper.make_tensor_value_info(OUTPUT, floats, [1, hidden])],
            self._constants,
        )
        operators = [helper.make_opsetid("", 18), helper.make_opsetid(_CONTRIBUTED, 1)]
        model: onnx.ModelProto = helper.make_model(
            graph, opset_imports=operators, ir_version=8, producer_name="wenyuan"
        )
        return model

    def _layer(self, x: str, layer: str) -> str:
        hidden, wide = self._shape.hidden, self._shape.feed_forward
        quantised = self._quantise(x)
        query, key, value = (
            self._product(quantised, layer + part, self._matrix(layer + part, hidden, hidden)) for part in "qkv"
        )
        context = self._node(
            "MultiHeadAttention",
            [query, key, value],
            layer + "attention",
            domain=_CONTRIBUTED,
            num_heads=self._shape.heads,
        )
        attended = self._product(self._quantise(context), layer + "ao", self._matrix(layer + "ao", hidden, hidden))
        x = self._normalise(self._node("Add", [x, attended], layer + "attended"), layer + "aln")
        inner = self._product(self._quantise(x), layer + "fi", self._matrix(layer + "fi", wide, hidden))
        active = self._node("Gelu", [inner], layer + "active", domain=_CONTRIBUTED)
        fed = self._product_with_outliers(active, layer + "fo", self._matrix(layer + "fo", hidden, wide))
        return self._normalise(self._node("Add", [x, fed], layer + "fed"), layer + "oln")

    def _normalise(self, x: str, name: str) -> str:
        hidden, epsilon = self._shape.hidden, self._shape.epsilon
        scale = self._constant(name + ".scale", self._weights.vector(name + ".w", hidden))
        shift = self._constant(name + ".shift", self._weights.vector(name + ".b", hidden))
        return self._node("LayerNormalization", [x, scale, shift], name + ".out", axis=-1, epsilon=epsilon)

    def _quantise(self, x: str) -> str:
        outputs = [f"{x}.{part}" for part in ("integers", "scale", "zero")]
        self._nodes.append(self._onnx.helper.make_node("DynamicQuantizeLinear", [x], outputs, name=f"{x}.quantise"))
        return x

    def _product(self, quantised: str, name: str, matrix: NDArray[np.float32]) -> str:
        """Multiply a quantised activation with a matrix of shape (outputs, inputs) and add the bias."""
        scale = np.abs(matrix).max(axis=1) / np.float32(_LARGEST_WEIGHT)
        integers = np.rint(matrix / scale[:, None]).astype(np.int8)
        inputs = [
            f"{quantised}.integers",
            self._constant(name + ".weights", integers.T),
            f"{quantised}.scale",
            self._constant(name + ".weight_scale", scale),
            f"{quantised}.zero",
            self._constant(name + ".weight_zero", np.zeros(len(matrix), np.int8)),
            self._constant(name + ".bias", self._weights.vector(name + ".b", len(matrix))),
        ]
        return self._node("MatMulIntegerToFloat", inputs, name + ".out", domain=_CONTRIBUTED)

    def _product_with_outliers(self, x: str, name: str, matrix: NDArray[np.float32]) -> str:
        """The same from float32, with the few columns of outsized weights multiplied in float32."""
        magnitudes = np.abs(matrix)
        outliers = np.flatnonzero(magnitudes.max(axis=0) > _OUTLIER_RATIO * np.median(magnitudes.max(axis=1)))
        if not len(outliers):
            return self._product(self._quantise(x), name, matrix)
        ordinary = np.ones(matrix.shape[1], np.float32)
        ordinary[outliers] = 0
        masked = self._node("Mul", [x, self._constant(name + ".ordinary", ordinary)], name + ".masked")
        product = self._product(self._quantise(masked), name, matrix * ordinary)
        columns = self._constant(name + ".outliers", outliers.astype(np.int64))
        taken = self._node("Gather", [x, columns], name + ".taken", axis=-1)
        exact = self._node(
            "MatMul", [taken, self._constant(name + ".outlier_weights", matrix[:, outliers].T)], name + ".exact"
        )
        return self._node("Add", [product, exact], name + ".sum")

    def _matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        return self._weights.matrix(name + ".w", rows, columns)

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(
            self._onnx.helper.make_node(operator, inputs, [output], name=f"{output}.node", domain=domain, **attributes)
        )
        return output
