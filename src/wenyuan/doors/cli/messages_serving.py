"""What the command line says of serving a library and of its keys, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

ABOUT_SERVING: Mapping[str, tuple[str, str]] = {
    "serve.ready": (
        "Serving {library}: {url} in a browser, {url}/api/v1 for programs (Ctrl-C to stop).",
        "正在提供 {library}：浏览器打开 {url}，程序访问 {url}/api/v1（Ctrl-C 停止）。",
    ),
    "serve.open": (
        "Everyone on this machine may use it; `{command}` makes a key, which then everyone needs.",
        "本机上的任何人都可以使用；`{command}` 新建密钥，之后所有人都需要密钥。",
    ),
    "serve.first-key": (
        "A key for whoever administers it, shown this once: ",
        "管理员密钥，只显示这一次：",
    ),
    "serve.stopped": ("Stopped. Nothing is lost.", "已停止，没有丢失任何内容。"),
    "keys.created": ("The key, shown this once: ", "密钥，只显示这一次："),
    "keys.none": ("There are no keys yet.", "还没有密钥。"),
    "keys.revoked": ("The key {name} opens nothing any more.", "密钥 {name} 已吊销。"),
    "keys.all": ("all", "全部"),
    "keys.usable": ("usable", "可用"),
    "keys.expired": ("expired", "已过期"),
    "keys.is-revoked": ("revoked", "已吊销"),
    "keys.column.scopes": ("scopes", "权限"),
    "keys.column.expires": ("expires", "到期"),
}
