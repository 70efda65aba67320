"""What the command line says of models, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

ABOUT_MODELS: Mapping[str, tuple[str, str]] = {
    "models.column.types": ("for", "用途"),
    "models.column.model": ("model", "模型"),
    "models.column.roles": ("role", "角色"),
    "models.column.used": ("used by", "使用者"),
    "models.column.endpoint": ("at", "地址"),
    "models.column.preset": ("preset", "预设"),
    "models.column.key": ("key", "密钥"),
    "models.type.embedding": ("embedding", "向量"),
    "models.type.chat": ("writing", "写作"),
    "models.type.rerank": ("reranking", "重排"),
    "models.type.image": ("images", "图像"),
    "models.role.answer": ("answers", "回答"),
    "models.role.task": ("small tasks", "小任务"),
    "models.role.embedding": ("new knowledge bases", "新知识库"),
    "models.role.rerank": ("reranking", "重排"),
    "models.here": ("this machine", "本机"),
    "models.added": ("Added {name} to {file}.", "已将 {name} 加入 {file}。"),
    "models.dimensions": ("Its vectors have {n} dimensions.", "它的向量有 {n} 维。"),
    "models.given": ("{name} has the role: {roles}.", "{name} 的角色：{roles}。"),
    "models.taken": ("Nobody has the role {role} any more.", "角色 {role} 现在空缺。"),
    "models.try": ("Next: ", "下一步："),
    "models.removed": ("{name} is taken out.", "{name} 已移除。"),
    "models.restart": (
        "A server or worker that runs already knows of it when it is started again.",
        "已在运行的服务或工作进程重新启动后生效。",
    ),
    "models.test.embedding": (
        "{name}: works for embedding: {dimensions} dimensions, {ms} ms.",
        "{name}：可用于向量：{dimensions} 维，{ms} 毫秒。",
    ),
    "models.test.chat": (
        "{name}: works for writing: first words after {first} ms, all after {ms} ms.",
        "{name}：可用于写作：{first} 毫秒出首字，共 {ms} 毫秒。",
    ),
    "models.test.silent": (
        "{name}: answers, but wrote no words within {n} tokens; a model that thinks for long needs more.",
        "{name}：有回应，但在 {n} 个词元内没有写出文字；思考较长的模型需要更多。",
    ),
    "models.test.rerank": (
        "{name}: works for reranking: {good} for a passage that answers, {bad} for another, {ms} ms.",
        "{name}：可用于重排：相关段落 {good}，无关段落 {bad}，{ms} 毫秒。",
    ),
    "models.test.rerank-odd": (
        "{name}: answers, but scored a passage that answers ({good}) no higher than another ({bad}).",
        "{name}：有回应，但相关段落的得分（{good}）不高于无关段落（{bad}）。",
    ),
    "models.test.failed": ("{name}: does not work for {type}:", "{name}：不能用于{type}："),
    "models.test.where": ("{protocol} at {endpoint}, model {model}", "{endpoint} 的 {protocol}，模型 {model}"),
    "models.advice.start-server": (
        "Is the program that serves it running? Start it, or correct `base_url`.",
        "提供该模型的程序在运行吗？请启动它，或改正 `base_url`。",
    ),
    "models.advice.check-network": (
        "Check `base_url`, the network, and whether a proxy is needed (HTTPS_PROXY).",
        "检查 `base_url`、网络，以及是否需要代理（HTTPS_PROXY）。",
    ),
    "models.advice.check-key": (
        "The provider does not accept the key: see that it is whole, not expired, and paid for.",
        "服务方不接受该密钥：检查它是否完整、未过期、未欠费。",
    ),
    "models.advice.set-key": (
        "Put the key where `key` says, or correct `key`.",
        "把密钥放到 `key` 所指的位置，或改正 `key`。",
    ),
    "models.advice.check-model": (
        "The provider does not take the request: check `model`, and what it says above.",
        "服务方不接受该请求：检查 `model` 和上面的说明。",
    ),
    "models.advice.check-address": (
        "There is no such model or path: check `model`, and whether `base_url` ends as it should (often /v1).",
        "没有这个模型或路径：检查 `model`，以及 `base_url` 的结尾（通常是 /v1）。",
    ),
    "models.advice.check-dimensions": ("Set `dimensions` to what it returned.", "把 `dimensions` 改为它返回的维数。"),
    "models.advice.check-protocol": (
        "Something answers there, but not in this protocol: check `protocol`, `types` and `base_url`.",
        "那里有回应，但不是这种协议：检查 `protocol`、`types` 和 `base_url`。",
    ),
    "models.advice.wait": ("Try again in a while.", "过一会儿再试。"),
    "models.advice.raise-timeout": (
        "It may still be loading: try again. If it is always slow, raise `timeout_seconds`.",
        "它可能仍在加载，请再试；若总是很慢，调高 `timeout_seconds`。",
    ),
    "models.advice.install": ("Install what is missing, as said above.", "按上面的说明安装缺少的软件包。"),
    "models.advice.check-settings": ("Correct its table in wenyuan.toml.", "改正它在 wenyuan.toml 中的表。"),
    "add.no-model": (
        'What is added to "{kb}" will be found by its words alone, until its embedding model can be used:',
        "加入“{kb}”的内容在向量模型可用之前只能按词语检索：",
    ),
    "explain.rerank": ("Reranking: ", "重排："),
    "explain.rerank.applied": (
        "{n} passage{n:s} by {model}, {ms} ms; the order is the model's, among what is equally exact.",
        "{model} 对 {n} 个段落重排，{ms} 毫秒；同等切题的段落之间按模型的顺序。",
    ),
    "explain.rerank.not": (
        "not done ({reason}); the order is that of the search.",
        "没有进行（{reason}）；按检索的顺序。",
    ),
    "models.none": ("There is no model to test.", "没有可测试的模型。"),
}
