"""Rules and values as users say them, in English and Chinese, and the small talk that uses the same words."""

from __future__ import annotations

RULES_EN = """
Only use GET requests on the billing API.
Use only GET requests until I write EXECUTE.
GET requests only, please.
Never call the hotel before 09:00 local time.
Please never mention prices to the customer.
You must not contact my manager about this.
Do not touch the production database.
Don't deploy on Fridays.
don't round the amounts
Always answer in German.
Reply in French from now on.
Keep every answer under 120 words.
No more than three bullet points per answer.
No emojis.
No flights with a layover in Frankfurt.
At most two retries, then stop and tell me.
The total must not exceed 6,400.00 EUR.
Stay under 700 euros for the whole trip.
Spend at most $250 on the gift.
Nothing that leaves Berlin before 08:00.
Everything except the guest list may be shared.
Ask me before you delete anything.
Check with me first before booking.
Wait until I confirm before you send the email.
Don't reply to Mr. Hale unless I approve the text.
Nobody but the finance team may see these figures.
Avoid the word "cheap" in all copy.
I'm allergic to peanuts and shellfish.
We don't eat pork.
I can't take calls after 18:00.
The report has to be ready by Tuesday noon.
Deliveries must arrive no later than 14 March.
Whenever you quote a price, include the currency.
From now on, sign every mail with "Ada L.".
Make sure the invoice goes to accounts@example.org, not to me.
Remember: the API key stays out of the logs.
It is forbidden to merge without a review.
Pushing to main is not allowed.
Under no circumstances restart the cluster.
I'd prefer aisle seats on all flights.
Use metric units throughout.
Use tabs instead of spaces.
Limit the search to the last 30 days.
Exclude weekends from the schedule.
You may only read from the replica.
You are not allowed to write files outside /tmp/sandbox.
If the payment fails, do not retry without asking me.
For customers in Quebec, always write in French.
Please keep my phone number private.
The deadline is 30 June 2026 at 17:00.
My budget is 1,200 EUR, hotels included.
Replies should never contain legal advice.
Treat every ticket from Acme as priority one.
Call me Max, not Maximilian.
Stick to Python 3.11 for all the scripts.
Under 50 MB per attachment, anything larger goes to the share.
The meeting cannot be moved before 10:30.
As a rule, cc legal@example.org on contracts.
Refrain from using abbreviations.
Just read the files, don't change them.
Leave the header untouched.
Without my written approval nothing goes out.
Only Maria may sign the contract.
You shall not store card numbers.
Prices are to be quoted in Swiss francs only.
Do NOT send anything to the customer yet!
Strictly no calls on Sunday.
The temperature should stay between 2 and 8 °C.
Answer in one sentence.
Could you please never use my first name in emails?
Backups may never leave the EU region.
Skip the intro in every reply.
""".strip().splitlines()

RULES_ZH = """
只允许 GET 请求。
在我写下“执行”之前，只能用 GET 请求。
不要在 22:00 之前重启任何线上服务。
不得修改生产数据库。
禁止向客户透露成本价。
严禁把密钥写进日志。
务必先问我再下单。
必须在 3 月 14 日之前送达。
最多重试三次，失败就停。
至少提前两天通知我。
预算不超过 700 元。
总价不能超过 6,400.00 欧元。
请一直用英文回答。
以后每次回复都要署名“阿达”。
别给王经理打电话。
请勿在周末发布。
除非我同意，否则不要发送邮件。
没有我的批准之前不准合并代码。
所有金额一律保留两位小数。
我对花生过敏。
我不吃香菜。
手机号只显示后四位。
单笔退款不超过 500.00 元才可以走自动通道。
航班不能早于上午八点。
回答控制在 100 字以内。
记住，现在只看不动。
千万别删原始文件。
从现在开始只用公制单位。
仅限内部使用，不得外传。
未经允许不得访问 /data/raw。
除了周三以外都可以安排会议。
优先选择靠过道的座位。
文件名统一用小写字母。
先备份，再升级。
会议不得晚于 17:30 结束。
绝不允许直接推送到 main 分支。
報告必須在週五前交。
請勿更改標題。
客户资料要保密，不能发到群里。
遇到 5xx 错误，等 30 秒再重试，至多两次。
不许用缩写。
无需抄送法务。
""".strip().splitlines()

VALUES_EN = """
The order number is QH-88120443.
My flight is TP 1934 on 13 May 2026.
The repository is https://git.example.org/ada/tiered.git
Write to maren.voss@example.com if it fails.
The config lives in /etc/app/settings.toml
The log is at C:\\logs\\2026\\app.log
Use ticket TK-20260316-1187 for this.
The build hash is 9f2c1ab7.
The tenant is 7d9f2c1e-3b4a-4c5d-8e6f-0a1b2c3d4e5f.
We run version 2.14.3-rc1 in production.
The package weighs 11.4 kg.
Our rate is 3.75 % per year.
My phone number is +351 22 834 7000.
The invoice was 18,764.30 EUR.
Dinner is at half past eight.
There will be twelve guests.
The password hint is "blue heron".
The project is called Nightjar.
The server listens on 10.0.3.17:8443.
The feature flag is named enable_new_checkout.
It starts on 2026-07-01T09:30:00+02:00.
My name is Ottoline Brandt-Szabo.
The code word is marzipan.
The room is 412, bed height 48 cm.
Send it to the bucket s3://halden-backups/nightly
The variable is MAX_RETRY_COUNT.
It is in src/orders/refund.py, line 88.
The audit is due on Friday.
""".strip().splitlines()

VALUES_ZH = """
订单号是 QH-88119375。
航班号 CA1837，五月十三日出发。
合同金额三万五千元。
我的手机号是 13800138000。
会议定在周四下午两点半。
日志在 /var/log/pay/callback.log 里。
一共十二位客人。
证书序列号是 5A1F09C3。
项目代号叫“夜莺”。
接口地址是 https://api.example.cn/v2/orders
密码是 蓝鹭。
温度是 ３８．５ 度。
邮箱是 lin.wei@example.cn。
房间在十八楼。
版本是 8.3.1。
生效日期：二〇二六年三月一日
""".strip().splitlines()

SMALL_TALK = """
Thanks, that helps a lot!
Good morning, how are you?
Sounds lovely, tell me more.
Never mind, I found it.
I can't wait to see it!
You must be kidding.
That must have been hard.
Don't worry about it.
No problem at all.
I always enjoy our talks.
It only gets better.
I never knew that.
At least you tried.
Keep up the good work!
Could you explain that again?
What would you recommend?
Do I have to bring anything?
Nothing beats a good cup of tea.
Remember when we went sailing?
I should be fine.
It's always nice to hear from you.
No way, really?
She would only laugh about it.
The weather has been lovely.
Who else is coming?
You can do it!
好的，谢谢你！
早上好，今天怎么样？
别担心，没事的。
不要客气。
我也不知道为什么。
听起来不错。
真不好意思，麻烦你了。
能不能再解释一下？
这个必须带吗？
辛苦了！
哈哈，太好了。
特别好看。
我觉得挺好的。
总是那么忙。
没问题，一会儿见。
""".strip().splitlines()

# Written after the patterns, and tried on them before they were tuned any further: rules and values together.

MORE_EN = """
Every commit needs a signed-off-by line.
Hands off the legacy folder.
I want all summaries in British English.
Under no condition should you reveal the salary list.
Passwords must be at least 16 characters.
The API allows 60 calls per minute, don't go over that.
Only staging, never production.
We have to stay below 2 GB of memory.
Don't ever share my address with third parties.
No seafood for me.
Quotes need to be valid for 30 days.
Nothing may be published before the embargo lifts on 3 May.
You're only permitted to query, not to insert.
Leave out any personal data.
Keep responses short.
Whatever happens, the backup job keeps running.
Anything above 500 EUR needs my sign-off.
Please address me formally.
Do all calculations in UTC.
It's crucial that no email goes out twice.
If in doubt, ask.
Run the tests before every push.
Speak to me in Spanish, please.
I need to be home by 18:30 every day.
Just one thing: no tracking cookies.
We only accept invoices in PDF.
Two-factor login is mandatory for all accounts.
The intro may not be longer than 80 words.
You can't use any GPL code.
Please wait for my OK before ordering.
Data has to remain within Germany.
Give me at most 5 options.
Exactly three examples, no more, no less.
Minimum order is 40 units.
Always double-check the IBAN.
Tests shouldn't hit the network.
Write everything in lowercase.
The limit is 20 requests per second.
Use the staging key, not the live one.
Neither Tom nor Ana should be invited.
The invoice always goes to Berlin, never to Porto.
Please don't contact anyone outside the team.
You need to ask me before each purchase.
Do not, under any circumstances, email the client directly.
Round nothing.
All times are in Lisbon time.
Only book refundable rates.
Passport copies stay on this machine.
We can spend 900 EUR at most.
One condition: it has to be a direct flight.
I will not fly with Ryanair.
Not before Monday, please.
Just no Comic Sans.
Always cc Priya.
The file must stay under 25 MB.
Hold all shipments until further notice.
Limit yourself to three sources.
No calls between 12 and 14.
Answer with yes or no only.
Mask card numbers except the last four digits.
We don't allow third-party scripts.
Code must compile with Java 8.
Do everything in dry-run mode first.
Give prices without VAT.
Please use the informal "du".
Hotel rooms above 150 a night are out.
Please hold back the announcement until Monday 8 am.
I'd like every table to have a total row.
Images need alt text.
We agreed that nobody calls the client on weekends.
Whatever you do, don't touch line 40.
Never, ever email the whole list.
My daughter can't have dairy.
Cap the spending at 300 GBP.
The vendor has to be ISO 27001 certified.
Only vegetarian restaurants.
Don't use my real name anywhere.
Ask permission before running any migration.
All amounts in GBP, rounded up.
No later than the 15th.
Please stop adding disclaimers.
Schema changes require two approvals.
You may spend up to 75 dollars without asking.
Prefer trains over planes.
Every request must carry the header X-Trace.
Write dates as YYYY-MM-DD.
Do not call it a bug in front of the customer.
If you are unsure, say so instead of guessing.
Only the second option is acceptable.
Seat 14C is reserved for Ifeoma.
My account number is 4417-220-9.
The key is stored at ~/.ssh/halden_ed25519
Use the branch release/2026-q2.
The meeting is at 3pm on the 4th of July.
Ship it to 14 Rue de la Paix, 75002 Paris.
Please call me Dr. Voss.
The wifi password: tulip-garden
It should take no longer than 20 minutes.
Kindly exclude cancelled orders.
Each PR needs a changelog entry.
""".strip().splitlines()

MORE_ZH = """
所有回复都用简体中文。
付款前一定要让我确认。
这个文件夹谁都不能动。
字数别超过两百。
周末不安排会议。
只有主管批准了才可以发货。
每天最多打两个电话。
日志里不允许出现身份证号。
不要用敬语。
车票必须是二等座。
酒店离地铁站不超过 500 米。
请保持格式不变。
千万不要告诉小李。
只选直飞航班。
超过三千元的采购要先找我审批。
工作时间以外不接电话。
代码注释一律写英文。
请用 Markdown 表格输出。
仅显示前十条。
会议纪要当天 18 点前发出。
绝对不能泄露客户名单。
测试环境随便用，生产环境碰都别碰。
我乳糖不耐受。
不能含坚果。
每次改动前都要备份。
密码至少 12 位。
禁止使用第三方库。
交付日期不能晚于十月底。
涉及金额的地方要写明币种。
先征求我的意见再改。
先别下单，等我消息。
邮件里不要出现真名。
只准在测试库上跑。
每晚房费不得高于 450 元。
不接受转机。
我要无烟房。
所有时间按北京时间写。
没我点头谁也不许发布。
最晚周五下班前给我。
报告不能超过五页。
订单金额低于 50 元的不用处理。
请务必保留原始单号。
别在群里@所有人。
只要靠窗的座位。
不得使用真实姓名。
一次只问一个问题。
任何人不得绕过审批。
语气要正式。
除法务外不得转发。
上线必须走灰度。
发票抬头必须写公司全称。
报价有效期不少于 30 天。
别用缩写，写全称。
所有接口只读。
客户没回复之前先不发货。
我只能周末开会。
图片一律压缩到 1 MB 以下。
不能同时运行两个任务。
请把日期写成年月日格式。
合同编号 HT-2026-0417。
取件码是 8-2-3051。
收货地址：杭州市西湖区文三路 90 号。
孩子对牛奶过敏。
最好不要安排早班机。
付款之前必须双人复核。
敏感字段要打码。
单次查询不得超过一万行。
超时设为 30 秒。
今后邮件都抄送李敏。
除了我谁的指令都不要听。
不许自动续费。
只在工作日的九点到十八点之间打电话。
不用加敬称。
车牌号沪A·D12345。
禁止吸烟的房间才行。
""".strip().splitlines()
