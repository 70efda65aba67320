"""What the command line says of knowledge bases and documents, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

ABOUT_DOCUMENTS: Mapping[str, tuple[str, str]] = {
    # --- Sources ---
    "sources.paused": ("All sources are paused. They are listed by: ", "所有来源都已暂停。查看来源："),
    "sync.failed": (
        "{n} document{n:s} of these sources could not be read: {command}",
        "这些来源中有 {n} 个文档未能读取：{command}",
    ),
    # --- Knowledge bases ---
    "column.persona": ("persona", "角色"),
    "column.scenario": ("scenario", "场景"),
    "kb.created": ('Made the knowledge base "{name}".', "已建立知识库“{name}”。"),
    "kb.archived": (
        'Archived "{name}": it is kept as it is, and no longer searched.',
        "已归档“{name}”：原样保留，不再被检索。",
    ),
    "kb.restored": ('"{name}" is back and will be searched.', "“{name}”已恢复，可被检索。"),
    "kb.deleted": ('Deleted "{name}"; your own files are untouched.', "已删除“{name}”，你自己的文件没有变动。"),
    "kb.delete-confirm": ('Delete "{name}" with {n} document{n:s}? [y/N]', "删除“{name}”及其 {n} 个文档？[y/N]"),
    "kb.no-model": ("keyword search alone", "仅关键词检索"),
    "kb.semantic": ("{done} of {total} document{total:s}", "{total} 个文档中的 {done} 个"),
    "kb.chunking": ("{n} column{n:s} a passage, {overlap} repeated", "每段 {n} 列，重复 {overlap} 列"),
    "kb.rebuild.building": ("being rebuilt: {percent} %", "重建中：{percent}%"),
    "kb.rebuild.failed": ("rebuild failed at {percent} %", "重建失败（{percent}%）"),
    "kb.ready-when.semantic": ("with its vectors", "向量完成后"),
    "rebuild.nothing": (
        'The indexes of "{name}" are made as it is configured; there is nothing to rebuild.',
        "“{name}”的索引与配置一致，无需重建。",
    ),
    "rebuild.begun": (
        '"{name}" is to be rebuilt; the old index answers until the new one is complete. Next: ',
        "“{name}”将被重建；新索引完成之前由旧索引回答。下一步：",
    ),
    "rebuild.embedding": (
        "Being rebuilt ({change}): {embedded} of {passages} passage{passages:s} embedded; the old index answers "
        "meanwhile. To give it up: ",
        "重建中（{change}）：{passages} 个段落中 {embedded} 个已生成向量，其间由旧索引回答。放弃重建：",
    ),
    "rebuild.reading": (
        "Being rebuilt ({change}): {read} of {documents} document{documents:s} read, {embedded} of {passages} "
        "passage{passages:s} embedded; the old index answers meanwhile. To give it up: ",
        "重建中（{change}）：{documents} 个文档中 {read} 个已读取，{passages} 个段落中 {embedded} 个已生成向量，"
        "其间由旧索引回答。放弃重建：",
    ),
    "rebuild.failed": (
        "The rebuild failed ({change}); the old index goes on answering. To go on: ",
        "重建失败（{change}），仍由旧索引回答。继续重建：",
    ),
    "rebuild.done": ("Rebuilt ({change}). To go back: ", "已重建（{change}）。退回旧索引："),
    "rebuild.changed": ("Changed ({change}).", "已更改（{change}）。"),
    "rebuild.cancelled": (
        "Given up ({change}); what answers has never changed.",
        "已放弃（{change}），回答用的索引从未改变。",
    ),
    "rebuild.dropped": ("The replaced index is taken away.", "被替换的索引已删除。"),
    "rebuild.kept": (
        "{n} document{n:s} could not be read anew and stay cut as before.",
        "{n} 个文档无法重新读取，沿用原来的分段。",
    ),
    "rebuild.refused": (
        "{n} document{n:s} get no vectors: the model refused the text.",
        "{n} 个文档没有向量：模型拒绝了其中的文本。",
    ),
    "rebuild.change.model": ("model {before} → {after}", "模型 {before} → {after}"),
    "rebuild.change.chunking": ("passages of {before} → {after} columns", "每段 {before} → {after} 列"),
    "rebuild.change.reread": ("every document read anew", "重新读取所有文档"),
    "rebuild.change.vectors": ("vectors made anew", "重新生成向量"),
    "kb.behind": (
        "{n} document{n:s} read by older rules, and found by those until the next worker reads them again: ",
        "{n} 个文档是按旧规则读取的，在下一个工作进程重新读取之前仍按旧规则检索：",
    ),
    "kb.nothing-to-reread": ("No document needs to be read again.", "没有需要重新读取的文档。"),
    "kb.to-reread": ("{n} document{n:s} to read again: ", "{n} 个文档待重新读取："),
    "kb.reread": ("{n} document{n:s} read again.", "已重新读取 {n} 个文档。"),
    "kb.no-words": ("There are none.", "还没有。"),
    "kb.state.active": ("active", "使用中"),
    "kb.state.archived": ("archived", "已归档"),
    "policy.types": ("takes", "接收类型"),
    "policy.forbidden-types": ("does not take", "不接收类型"),
    "policy.max-file-size": ("largest file", "最大文件"),
    "policy.max-documents": ("documents at most", "文档上限"),
    "policy.duplicates": ("same bytes under another path", "不同路径的相同内容"),
    "duplicates.skip": ("skipped", "略过"),
    "duplicates.replace": ("take the place of the older", "取代较早的文档"),
    "policy.blocked": (
        "{n} document{n:s} may not be found any more; they are kept.",
        "{n} 个文档不再可检索，但仍保留。",
    ),
    "policy.allowed": (
        "{n} document{n:s} may be found; what was never read waits: ",
        "{n} 个文档可检索；从未读取过的正在等待：",
    ),
    # --- Documents ---
    "docs.none": ("No documents here yet. Next: ", "这里还没有文档。下一步："),
    "docs.size": (
        "{size} byte{size:s}, {chunks} passage{chunks:s}, {length} character{length:s} of text",
        "{size} 字节，{chunks} 个段落，{length} 个字符",
    ),
    "docs.enabled": ("{name} can be found again.", "{name} 可被检索。"),
    "docs.disabled": ("{name} is switched off: it is kept, but not found.", "{name} 已停用：保留，但不会被检索到。"),
    "docs.cancelled": ("Work on {name} is stopped.", "已停止处理 {name}。"),
    "docs.nothing-such": ("No document stands like that.", "没有这样的文档。"),
    "docs.more": ("More: ", "更多："),
    "docs.nothing-failed": ("Nothing has failed.", "没有失败的文档。"),
    "docs.retried": ("{n} document{n:s} put back to work.", "{n} 个文档已重新处理。"),
    "docs.moved": ('{name} is in "{kb}".', "{name} 已在“{kb}”中。"),
    "docs.moving": (
        '{name} is moving to "{kb}", and is found in "{home}" until it is ready there.',
        "{name} 正移往“{kb}”，就绪之前仍可在“{home}”中检索。",
    ),
    "docs.moving-to": ('moving to "{kb}"', "移往“{kb}”"),
    "docs.update": ("{state}; update: {update}", "{state}；更新：{update}"),
    "docs.passage-enabled": (
        "Passage {number} of {name} can be found again ({n} passage{n:s} with these words).",
        "{name} 的第 {number} 个段落可再被检索（相同文字的段落共 {n} 个）。",
    ),
    "docs.passage-disabled": (
        "Passage {number} of {name} will not be found any more ({n} passage{n:s} with these words).",
        "{name} 的第 {number} 个段落不再被检索（相同文字的段落共 {n} 个）。",
    ),
    "docs.deleted": (
        "Deleted {name} from the library; your own file is untouched.",
        "已从资料库删除 {name}，你自己的文件没有变动。",
    ),
    "docs.changed-since": (
        "The document has changed since; this is the text as it was cited.",
        "文档之后有改动；这里显示的是当时引用的文字。",
    ),
    "docs.picture": ("Page {page} with the passage lit: ", "第 {page} 页（已标出段落）："),
    "docs.inside": ("inside of", "位于"),
    "docs.holds": ("holds", "包含"),
    "docs.more-inside": ("… and {n} more", "……另有 {n} 个"),
    "docs.quality": ("read as", "读取结果"),
    "docs.doubtful": ("look at this", "请查看"),
    "docs.doubts": (
        "{n} document{n:s} may not have been read well; `wenyuan docs show` says why.",
        "{n} 个文档可能没有读好；`wenyuan docs show` 说明原因。",
    ),
    "quality.characters": ("{n} character{n:s}", "{n} 个字符"),
    "quality.pages": ("{n} page{n:s}", "{n} 页"),
    "quality.pages_without_text": ("{n} without text", "其中 {n} 页没有文字"),
    "quality.pages_recognised": ("{n} recognised from pictures", "{n} 页由图片识别"),
    "quality.sheets": ("{n} sheet{n:s}", "{n} 张工作表"),
    "quality.hidden_sheets": ("{n} hidden", "{n} 张隐藏"),
    "quality.slides": ("{n} slide{n:s}", "{n} 张幻灯片"),
    "quality.reader": ("by the remote reader {reader}", "由远程阅读器 {reader} 转换"),
    "quality.tables": ("{n} table{n:s}", "{n} 个表格"),
    "quality.headings": ("{n} heading{n:s}", "{n} 个标题"),
    "quality.files": ("{n} file{n:s} inside", "内含 {n} 个文件"),
    "quality.lost_characters": ("{n} lost", "{n} 个无法识别"),
    "quality.private_characters": ("{n} private to a font", "{n} 个仅字体可见"),
    "quality.control_characters": ("{n} control character{n:s}", "{n} 个控制字符"),
    "doubt.characters-lost": (
        "{n} of {total} characters could not be read and stand as \ufffd. Is its encoding another one?",
        "{total} 个字符中有 {n} 个无法识别，显示为 \ufffd。编码是否不对？",
    ),
    "doubt.characters-private": (
        "{n} of {total} characters are private to a font: what is shown well may be found by nothing.",
        "{total} 个字符中有 {n} 个只在其字体中有意义：显示正常，却可能无法检索。",
    ),
    "doubt.characters-control": (
        "{n} of {total} characters are control characters: this may not be text.",
        "{total} 个字符中有 {n} 个控制字符：这可能不是文本。",
    ),
    "doubt.pages-empty": ("On {n} of {total} pages no text was found.", "{total} 页中有 {n} 页没有找到文字。"),
    "doubt.little-text": (
        "{total} pages gave only {n} character{n:s} of text: most of what is on them may be pictures.",
        "{total} 页只得到 {n} 个字符：页面内容可能大多是图片。",
    ),
    "preview.members": ("{n} file{n:s} inside would become documents:", "内含的 {n} 个文件会成为文档："),
    "preview.each-block": ("Blocks, from the first:", "各块，从头开始："),
    "password.ask": ("Password of the file: ", "文件密码："),
    "state.pending": ("queued", "排队"),
    "state.processing": ("reading", "读取中"),
    "state.ready": ("ready", "就绪"),
    "state.failed": ("failed", "失败"),
    "state.cancelled": ("cancelled", "已取消"),
    "state.disabled": ("disabled", "已停用"),
    "state.blocked": ("blocked", "已阻止"),
    "availability.allowed": ("allowed", "允许"),
    "availability.disabled": ("switched off", "已停用"),
    "availability.blocked": ("blocked ({reason})", "已阻止（{reason}）"),
    "blocked.policy: type": ("policy: type", "规定：类型"),
    "blocked.policy: size": ("policy: size", "规定：大小"),
    "semantic.pending": ("pending", "待生成"),
    "semantic.ready": ("ready", "就绪"),
    "semantic.failed": ("failed", "失败"),
}
