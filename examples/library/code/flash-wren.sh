#!/bin/sh
# 给鹪鹩 W1 烧固件并写序列号。用法：flash-wren.sh 固件.bin 批号 起始流水号
# 例：flash-wren.sh wren-2.3.1.bin 14 0001
set -eu

image=$1
batch=$2
number=$3
port=${WREN_PORT:-/dev/ttyUSB0}
log=flash-batch-$batch.log

# 治具上的弹针寿命两万次，过了会接触不良，看上去像固件坏了
count=$(wc -l < "$log" 2>/dev/null || echo 0)
if [ "$count" -ge 320 ]; then
    echo "第 $batch 批已满 320 台，请换批号" >&2
    exit 1
fi

while :; do
    serial=$batch$(printf '%04d' "$number")
    printf '放好仪表，按回车烧 %s（q 结束）：' "$serial"
    read -r answer
    [ "$answer" = q ] && break
    if wren-flasher --port "$port" --image "$image" --serial "$serial" --verify; then
        printf '%s\t%s\tok\n' "$(date +%FT%T)" "$serial" >> "$log"
        number=$((number + 1))
    else
        # 失败不跳号：同一台重烧，两次都失败就贴黄标交给许澜
        printf '%s\t%s\tfailed\n' "$(date +%FT%T)" "$serial" >> "$log"
        echo "没有写进去，检查夹具后重试" >&2
    fi
done
